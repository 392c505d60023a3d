"""The command `reproduce`: a paper's tables and figures for a model, beside the paper's own numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import INCOMPLETE, notice, user_errors
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.output_folder import writable
from headscope.front.cli.printing import escaped, print_json, print_table, printable

if TYPE_CHECKING:
    from headscope.front.reproduction_plan import PlannedRun, RunPlan

PASSED_ON = ("seed", "device", "resamples", "figures", "no_figures")
Paper = Annotated[
    str, typer.Argument(metavar="PAPER", help="clark2019, kovaleva2019, ...: --plan lists what each runs.")
]
All = Annotated[
    bool, typer.Option("--all", help="Reproduce all papers, of the one MODEL that is named, and judge every claim.")
]
Data = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Folder of the data sets, known by their usual names.")
]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would run, and what is missing; run nothing.")]


def reproduce(
    *,
    paper: Paper,
    model: str,
    all_papers: All = False,
    data: Data = None,
    plan: Plan = False,
    **shared: Annotated[Any, ("out", "limit", *PASSED_ON, "quiet", "json", "debug")],
) -> None:
    """Reproduce a paper: its tables and figures for a model, each number beside the paper's."""
    options = {name: shared[name] for name in PASSED_ON}
    out, limit, quiet, json = (shared[name] for name in ("out", "limit", "quiet", "json"))
    with user_errors(shared["debug"]):
        if all_papers:
            if model != DEFAULTS["model"]:
                raise HeadscopeError(f"--all takes a model alone, here '{paper}' and '{model}'; name no paper")
            _reproduce_all(paper, data, out or Path("out") / "certificate", limit, options, plan, quiet, json)
            return
        from headscope.front.reproduction_plan import planned
        from headscope.papers.reproduction import read_reproduction
        from headscope.papers.reproduction_record import ReproductionRecord

        reproduction, folder = read_reproduction(paper), out or Path("out") / paper
        plans = planned(reproduction, model, data, folder, limit)
        if plan:
            _print_plan(plans, json=json)
            return
        if all(run.lacks for run in plans):
            raise HeadscopeError(f"no run of '{paper}' has its data ({plans[0].lacks}); see --plan")
        failed = _run(plans, ReproductionRecord(paper, model, limit, ()), folder, options, quiet=quiet)
        _finish(folder, quiet=quiet, json=json)
        if failed:
            raise typer.Exit(INCOMPLETE)


def _run(plans: "Sequence[PlannedRun]", record: Any, folder: Path, options: Mapping[str, Any], *, quiet: bool) -> bool:
    """Make the runs of a paper, and name those that failed. Returns: whether any did."""
    from headscope.front.reproduction import make
    from headscope.storage.run_lock import run_lock

    with run_lock(writable(folder), "headscope reproduce", on_no_lock=notice):
        written = make(plans, record, folder, options, lambda line: None if quiet else notice(line))
    failed = [run for run in written.runs if run.command and run.lacks]
    for run in failed:
        notice(f"{written.paper}, {run.name}: {run.lacks}")
    return bool(failed)


def _reproduce_all(
    model: str,
    data: Path | None,
    folder: Path,
    limit: int | None,
    options: Mapping[str, Any],
    plan: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Print the plan of all papers with time and space; or run them, each in its folder, and write the verdicts."""
    from headscope.front.reproduction import write_certificate
    from headscope.front.reproduction_plan import all_planned, rows
    from headscope.papers.reproduction_page import write_reproduction
    from headscope.papers.reproduction_record import ReproductionRecord

    plans = all_planned(model, data, folder, limit)
    if plan:
        _print_all(*rows(plans, model, limit), json=json)
        return
    if all(run.lacks for runs in plans.values() for run in runs):
        raise HeadscopeError("no run of any paper has its data; name its folder with --data, see --plan")
    failed = False
    for paper, runs in plans.items():
        failed |= _run(runs, ReproductionRecord(paper, model, limit, ()), folder / paper, options, quiet=quiet)
        page = write_reproduction(folder / paper)
        if not quiet:
            notice(f"{paper}: {escaped(page)}")
    written = write_certificate(folder, model)
    if json:
        print_json({"model": model, "certificate": str(written)})
    else:
        typer.echo(f"certificate: {escaped(written)}")
    if failed:
        raise typer.Exit(INCOMPLETE)


def _print_all(runs: "Sequence[RunPlan]", assumed: bool, *, json: bool) -> None:
    """The plan of all papers, and the time and space of all together."""
    seconds, memory, disk = sum(run.seconds for run in runs), max(run.memory for run in runs), sum(x.disk for x in runs)
    if json:
        print_json({"plan": [run._asdict() for run in runs], "seconds": seconds, "memory": memory, "disk": disk})
        return
    shown = (
        (run.paper, run.run, "yes" if run.runs else "no", f"{run.seconds / 3600:.1f}" * run.runs, run.reads)
        for run in runs
    )
    print_table(("Paper", "Run", "Runs", "Hours", "Reads, or needs"), shown)
    shape = " The model is not on this machine: the shape of BERT-base is assumed." if assumed else ""
    typer.echo(
        f"About {seconds / 3600:.0f} hours on one core of a processor, {memory:,} MiB of memory and {disk:,} MiB of "
        f"models on disk; a GPU takes a small part of the time.{shape} Nothing was run."
    )


def _finish(folder: Path, *, quiet: bool, json: bool) -> None:
    """Write the page, and print its tables."""
    from headscope.papers.reproduction_page import frame, read_reproduced, summary, tables, write_reproduction

    page, result = write_reproduction(folder), read_reproduced(folder)
    if json:
        runs = [{"run": run.name, "command": run.command, "lacks": run.lacks or None} for run in result.record.runs]
        numbers = frame(result).to_dict("records")
        record = {"paper": result.record.paper, "model": result.record.model}
        print_json(record | {"numbers": numbers, "runs": runs, "page": str(page)})
        return
    if quiet:
        return
    from headscope.front.cli.terminal import print_wrapped

    print_wrapped(tables(result))
    for run in result.record.runs:
        if run.lacks:
            typer.echo(printable(f"not run: {run.name}: {run.lacks}"))
    typer.echo(printable(summary(result)))
    typer.echo(f"page: {escaped(page)}")


def _print_plan(plans: "Sequence[PlannedRun]", *, json: bool) -> None:
    if json:
        rows = [
            {"run": plan.run.name, "study": plan.run.study, "runs": not plan.lacks, "lacks": plan.lacks or None}
            | {"command": " ".join(plan.words), "deviations": [*plan.deviations, *plan.run.deviations]}
            for plan in plans
        ]
        print_json({"plan": rows})
        return
    shown = []
    for plan in plans:
        reads = plan.lacks or " ".join((*plan.words[1:], *(f"({text})" for text in plan.deviations)))
        study = plan.words[0] if plan.words else plan.run.study
        shown.append((plan.run.name, study, "no" if plan.lacks else "yes", reads))
    print_table(("Run", "Study", "Runs", "Reads, or needs"), shown)
