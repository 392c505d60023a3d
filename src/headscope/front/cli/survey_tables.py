"""What the command `survey` prints: the plan with its time and memory, and the portrait in some lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headscope import catalog
from headscope.errors import DrawingError, HeadscopeError
from headscope.front.cli.errors import INCOMPLETE, notice
from headscope.front.cli.printing import escaped, print_json, print_table, printable
from headscope.front.progress import duration
from headscope.front.survey.budget import Budget, seconds_of, widest
from headscope.front.survey.costs import StudyEstimate, examples_of, rows
from headscope.front.survey.plan import PlannedStudy

if TYPE_CHECKING:
    from headscope.papers import Judgement
    from headscope.report.cards import MeasuredModel

MOST_PRINTED = 160


def finish(
    plans: Sequence[PlannedStudy],
    ended: Mapping[str, Mapping[str, str | HeadscopeError]],
    paths: Mapping[str, Path],
    folder: Path,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """Write the portrait, for several models also that of each, and print its main lines.

    * `ended`: by model, studies that were left out, with what they need, and that failed, with the error.

    Raises `typer.Exit` with status 1 if a study failed.
    """
    errors = [error for reasons in ended.values() for error in reasons.items() if not isinstance(error[1], str)]
    failed = [f"{catalog.command_name(study)}: {error}" for study, error in errors]
    left_out = {  # one whose page failed has its numbers
        name: {study: str(reason) for study, reason in reasons.items() if not isinstance(reason, DrawingError)}
        for name, reasons in ended.items()
    }
    for missing in left_out.values():
        if len(missing) == len(plans):
            reasons = "; ".join(f"{study}: {reason}" for study, reason in missing.items())
            raise HeadscopeError(f"no study could be run ({reasons[:MOST_PRINTED]}...); see --plan")
    from headscope.papers.across_models import records
    from headscope.papers.portrait import portrait

    missing = {study: reason for reasons in left_out.values() for study, reason in reasons.items()}
    pages, judged = portrait(list(paths.values()), folder, left_out=tuple(missing.items()))
    for name, path in paths.items() if len(paths) > 1 else ():
        pages += portrait([path], path, left_out=tuple(left_out[name].items()))[0]
    if json:
        studies = [plan.study for plan in plans]
        ran = {
            name: {study: str(path / study.replace("_", "-")) for study in studies if study not in left_out[name]}
            for name, path in paths.items()
        }
        results = ran if len(paths) > 1 else next(iter(ran.values()))
        print_json({"results": results, "left_out": missing, "models": records(judged), "pages": list(map(str, pages))})
    elif not quiet:
        _print(judged, missing, pages)
    for line in failed:
        notice(line)
    if failed:
        raise typer.Exit(INCOMPLETE)


def _print(
    judged: "Sequence[tuple[MeasuredModel, list[Judgement]]]", left_out: Mapping[str, str], pages: Sequence[Path]
) -> None:
    from headscope.papers.across_models import differences, differing_lines
    from headscope.papers.portrait import in_lines

    if len(judged) == 2:
        for line in differing_lines(differences(judged)):
            typer.echo(printable(line))
    for model, judgements in judged:
        for line in (model.name, *in_lines(model, judgements)):
            typer.echo(printable(line))
    for study, reason in left_out.items():
        typer.echo(printable(f"left out: {study.replace('_', '-')}: {reason}")[:MOST_PRINTED])
    typer.echo(f"portrait: {escaped(pages[0])}")


def print_plan(
    plans: Sequence[PlannedStudy], estimates: Sequence[StudyEstimate], budget: str | None, *, json: bool
) -> None:
    """Print what would run, what it reads and about how long it takes, and what is left out."""
    examples = examples_of(plans)
    chosen = (
        Budget(seconds_of(budget), estimates).size(estimates[0].study, examples) if budget and estimates else examples
    )
    listed = rows(plans, estimates, examples)
    if json:
        print_json({"plan": listed, "examples": chosen})
        return
    by_task = {plan.study for plan in plans if not plan.lacks and not plan.corpora}
    shown = []
    for row in listed:
        taken = (duration(row["seconds"]), f"{row['mib']:,} MiB") if row["runs"] else ("left out", "")
        taken = ("by the task", "") if row["study"] in by_task else taken
        shown.append((row["study"].replace("_", "-"), *taken, row["reads"]))
    print_table(("Study", "Time", "Memory", "Reads, or needs"), shown)
    total = duration(sum(estimate.of(examples) for estimate in estimates))
    typer.echo(f"About {total} in all: an estimate for one core; another processor may need half or twice as long.")
    if budget and estimates:
        typer.echo(f"{budget} are enough for about {chosen:,} of {examples:,} examples, by the same estimate: the 95%")
        typer.echo(f"interval of a share of examples then has at most {widest(chosen):.0%} on each side.")
