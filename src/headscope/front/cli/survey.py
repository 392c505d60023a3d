"""The command `survey`: every study that a model and some data allow, and the portrait of the model."""

import json as json_module
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.compute import function_of
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.output_folder import writable
from headscope.front.cli.parameters import flag
from headscope.front.cli.printing import cell, escaped, print_json, printable
from headscope.front.cli.study import OF_STUDIES, run_brief
from headscope.front.cli.survey_pass import read_shared
from headscope.front.from_options import models_kept
from headscope.front.inputs import options_of
from headscope.front.survey.plan import CorpusFacts, PlannedStudy, facts_of, planned, words_of
from headscope.storage.run_lock import run_lock

if TYPE_CHECKING:
    from headscope.papers import Judgement
    from headscope.report.cards import MeasuredModel

READ = ("kind", "limit", "skip_bad", "document", "annotate")
OF_TASK = ("task", "data")
ABOUT_FILES = ("out", "json", "debug", "overwrite")
MOST_PRINTED = 160

Only = Annotated[
    str | None, typer.Option(metavar="STUDY,...", help="Run these studies alone; by default all that can run.")
]
Without = Annotated[str | None, typer.Option(metavar="STUDY,...", help="Leave these studies out.")]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would run, and what is left out; run nothing.")]


def survey(  # noqa: PLR0913 (each is an option of the command)
    *,
    model: str,
    corpora: list[str],
    only: Only = None,
    without: Without = None,
    plan: Plan = False,
    out: Path | None,
    kind: str | None,
    document: str | None,
    task: str | None,
    data: Path | None,
    limit: int | None,
    skip_bad: bool,
    annotate: str | None,
    seed: int,
    device: str,
    dtype: str,
    workers: int,
    resamples: int,
    revision: str | None,
    remote_code: bool,
    figures: str,
    no_figures: bool,
    overwrite: bool,
    quiet: bool,
    json: bool,
    debug: bool,
) -> None:
    """Run every study that a model and some data allow, and draw the portrait of the model."""
    given = {name: value for name, value in locals().items() if name in DEFAULTS}
    with user_errors(debug):
        folder = out or Path("out") / "survey"
        facts = [_facts(source, given) for source in corpora or ["sample"]]
        plans = planned(facts, task=bool(task), only=_names(only), without=_names(without))
        if plan:
            _print_plan(plans, json=json)
            return
        with models_kept(), run_lock(writable(folder), "headscope survey", on_no_lock=notice):
            left_out = dict(_run(plans, model, given, folder))
        _finish(plans, left_out, folder, quiet=quiet, json=json)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _facts(source: str, given: Mapping[str, Any]) -> CorpusFacts:
    """What a corpus has."""
    from headscope import corpora

    corpus = corpora.read(source, corpora.Options(**{name: given[name] for name in READ}))
    return facts_of(source, corpus, len(corpus))


def _run(
    plans: Sequence[PlannedStudy], model: str, given: Mapping[str, Any], folder: Path
) -> Iterator[tuple[str, str]]:
    """Run the studies of a plan; those that are left out, with the reason.

    A study whose result is there already, made by the same command, is not run again.
    """
    commands = {
        plan.study: words_of(plan, model, _given(plan, given), _task(given), str(folder))
        for plan in plans
        if not plan.lacks
    }
    left = {study: words for study, words in commands.items() if not _is_done(folder, words)}
    read_shared(left, folder, quiet=given["quiet"])
    for number, plan in enumerate(plans, 1):
        if plan.lacks:
            yield plan.study, f"needs {plan.lacks}"
            continue
        if plan.study not in left:
            continue
        if not given["quiet"]:
            notice(f"{number} of {len(commands)}: {plan.study.replace('_', '-')}, {plan.reads}")
        try:
            run_brief(plan.study, commands[plan.study])
        except HeadscopeError as error:
            yield plan.study, str(error)


def _given(plan: PlannedStudy, given: Mapping[str, Any]) -> list[str]:
    """The options of a survey that a study has, as words."""
    _, inputs = function_of(plan.study)
    known = {*options_of(inputs), *OF_STUDIES} - {*ABOUT_FILES, *OF_TASK, "model", "corpora", "corpus"}
    words = []
    for name, value in given.items():
        if name in known and value != DEFAULTS[name]:
            words += [_flag(name)] if value is True else [_flag(name), str(value)]
    return words


def _flag(name: str) -> str:
    return "--trust-remote-code" if name == "remote_code" else flag(name)


def _task(given: Mapping[str, Any]) -> list[str]:
    return [word for name in OF_TASK if given[name] for word in (flag(name), str(given[name]))]


def _is_done(folder: Path, words: Sequence[str]) -> bool:
    """Whether the result of a command is there, and complete."""
    from headscope import results

    path = folder / words[0]
    if not (path / "result.nc").is_file():
        return False
    attrs = results.read(path).attrs
    return "interrupted" not in attrs and attrs.get("command") == json_module.dumps(list(words))


def _finish(
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


def _print_plan(plans: Sequence[PlannedStudy], *, json: bool) -> None:
    if json:
        print_json({"plan": [{"study": one.study, "runs": not one.lacks, "reads": one.reads} for one in plans]})
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table("Study", "Runs", "Reads, or needs", box=SIMPLE_HEAD)
    for one in plans:
        table.add_row(cell(one.study.replace("_", "-")), "no" if one.lacks else "yes", cell(one.reads))
    Console().print(table)
