"""The command `survey`: every study that a model and some data allow, and the portrait of the model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.output_folder import default_folder, writable
from headscope.front.cli.survey_run import budget_of, run_studies
from headscope.front.cli.survey_tables import finish, print_plan
from headscope.front.survey.costs import StudyEstimate, estimates, shape_of
from headscope.front.survey.models import folders, split
from headscope.front.survey.plan import CorpusFacts, PlannedStudy, facts_of, planned
from headscope.storage.kept import inputs_kept
from headscope.storage.run_lock import run_lock

READ = ("kind", "limit", "skip_bad", "document", "annotate")

Only = Annotated[
    str | None, typer.Option(metavar="STUDY,...", help="Run these studies alone; by default all that can run.")
]
Without = Annotated[str | None, typer.Option(metavar="STUDY,...", help="Leave these studies out.")]
BudgetTime = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Choose numbers of examples so that all ends in this time: 90s, 10m, 2h."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Take all examples also where a study takes some (probe, structure, attributions), and longer texts in "
        "induction.",
    ),
]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would run, and what is left out; run nothing.")]


def survey(  # noqa: PLR0913 (each is an option of the command)
    *,
    model: str,
    corpora: list[str],
    only: Only = None,
    without: Without = None,
    budget: BudgetTime = None,
    plan: Plan = False,
    full: Full = False,
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
    engine: str,
    address: str,
    gpus_per_worker: float,
    resamples: int,
    revision: str | None,
    tokenizer: str | None,
    remote_code: bool,
    figures: str,
    no_figures: bool,
    overwrite: bool,
    quiet: bool,
    json: bool,
    debug: bool,
) -> None:
    """Run every study that a model and some data allow, and draw its portrait; of two models also what differs."""
    values = {name: value for name, value in locals().items() if name in DEFAULTS or name == "full"}
    with user_errors(debug):
        models, sources = split([model, *(corpora or ())])
        folder = out or default_folder("survey", models)
        if budget and len(models) > 1:
            raise HeadscopeError("--budget is for one model; survey each alone, then both without it")
        facts = [_facts(source, values) for source in sources or ["sample"]]
        plans = planned(facts, task=bool(task), only=_names(only), without=_names(without))
        if plan:
            print_plan(plans, _estimates(plans, values), budget, json=json)
            return
        with inputs_kept(), run_lock(writable(folder), "headscope survey", on_no_lock=notice):
            timed = budget_of(budget, plans, _estimates(plans, values), folder, values) if budget else None
            paths = folders(models, folder)
            ended = {
                name: dict(run_studies(plans, values | {"model": name}, path, timed)) for name, path in paths.items()
            }
        finish(plans, ended, paths, folder, quiet=quiet, json=json)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _facts(source: str, values: Mapping[str, Any]) -> CorpusFacts:
    """What a corpus has."""
    from headscope import corpora

    corpus = corpora.read(source, corpora.Options(**{name: values[name] for name in READ}))
    return facts_of(source, corpus, len(corpus))


def _estimates(plans: Sequence[PlannedStudy], values: Mapping[str, Any]) -> list[StudyEstimate]:
    """What each study that runs will take, from the configuration of the model."""
    from headscope.models.checkpoint import locate

    options = {name: values[name] for name in ("revision", "remote_code", "tokenizer")}
    checkpoint = locate(values["model"], **options)
    return estimates(plans, shape_of(checkpoint.config), values["workers"], full=values["full"])
