"""What the command `survey` prints: the plan with what it will take, and the portrait in some lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.printing import cell, escaped, print_json, printable
from headscope.front.progress import duration
from headscope.front.survey.budget import Budget, seconds_of, widest
from headscope.front.survey.costs import StudyEstimate
from headscope.front.survey.plan import PlannedStudy

if TYPE_CHECKING:
    from headscope.papers import Judgement
    from headscope.report.cards import MeasuredModel

MOST_PRINTED = 160


def finish(
    plans: Sequence[PlannedStudy], left_out: Mapping[str, str], folder: Path, *, quiet: bool, json: bool
) -> None:
    """Write the portrait, and say what it says."""
    if len(left_out) == len(plans):
        reasons = "; ".join(f"{study}: {reason}" for study, reason in left_out.items())
        raise HeadscopeError(f"no study could be run ({reasons[:MOST_PRINTED]}...); see --plan")
    from headscope.front.survey.portrait import portrait

    pages, judged = portrait([folder], folder, left_out=tuple(left_out.items()))
    if json:
        models = [
            {"model": model.name, "sha256": model.sha256, "claims": [one.record() for one in judgements]}
            for model, judgements in judged
        ]
        ran = {plan.study: str(folder / plan.study.replace("_", "-")) for plan in plans if plan.study not in left_out}
        print_json({"results": ran, "left_out": dict(left_out), "models": models, "pages": list(map(str, pages))})
    elif not quiet:
        _print(judged, left_out, pages)


def _print(
    judged: "Sequence[tuple[MeasuredModel, list[Judgement]]]", left_out: Mapping[str, str], pages: Sequence[Path]
) -> None:
    from headscope.papers.portrait import in_lines

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
    examples = max([corpus.n_examples for plan in plans for corpus in plan.corpora], default=1)
    chosen = (
        Budget(seconds_of(budget), estimates).size(estimates[0].study, examples) if budget and estimates else examples
    )
    known = {one.study: one for one in estimates}
    rows = [(one, known.get(one.study)) for one in plans]
    if json:
        print_json({"plan": [_record(one, cost, examples) for one, cost in rows], "examples": chosen})
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table("Study", "Time", "Memory", "Reads, or needs", box=SIMPLE_HEAD)
    for one in estimates[: len(estimates) - sum(cost is not None for _, cost in rows)]:
        table.add_row(one.study, duration(one.of(examples)), f"{one.memory:,} MiB", "for all studies that can share it")
    for plan, cost in rows:
        taken = (duration(cost.of(examples)), f"{cost.memory:,} MiB") if cost else ("left out", "")
        taken = taken if plan.corpora or not cost else ("by the task", "")
        table.add_row(cell(plan.study.replace("_", "-")), *taken, cell(plan.reads))
    Console().print(table)
    total = duration(sum(one.of(examples) for one in estimates))
    typer.echo(f"About {total} in all: an estimate for one core; another processor may need half or twice of it.")
    if budget and estimates:
        typer.echo(f"{budget} are enough for about {chosen:,} of {examples:,} examples, by the same estimate: the 95%")
        typer.echo(f"interval of a share of examples then has at most {widest(chosen):.0%} on each side.")


def _record(plan: PlannedStudy, cost: StudyEstimate | None, examples: int) -> dict[str, Any]:
    row = {"study": plan.study, "runs": not plan.lacks, "reads": plan.reads}
    return row | ({"seconds": round(cost.of(examples)), "mib": cost.memory} if cost else {})
