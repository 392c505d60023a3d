"""The command `survey`: every study that a model and some data allow, and the portrait of the model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.output_folder import default_folder, short_name, writable
from headscope.front.cli.survey_run import budget_of, run_studies
from headscope.front.cli.survey_tables import finish, print_plan
from headscope.front.survey.costs import StudyEstimate, checkpoint_shape, estimates
from headscope.front.survey.plan import CorpusFacts, PlannedStudy, facts_of, planned
from headscope.storage.kept_inputs import inputs_kept
from headscope.storage.run_lock import run_lock

READ = ("kind", "limit", "skip_bad", "document", "annotate")
OPTIONS = (
    *("out", "kind", "document", "task", "data", "limit", "skip_bad", "annotate", "seed", "device", "dtype", "workers"),
    *("engine", "address", "gpus_per_worker", "resamples", "revision", "tokenizer", "remote_code", "figures"),
    *("no_figures", "overwrite", "quiet", "json", "debug"),
)

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


def survey(
    *,
    model: str,
    corpora: list[str],
    only: Only = None,
    without: Without = None,
    budget: BudgetTime = None,
    plan: Plan = False,
    full: Full = False,
    **shared: Annotated[Any, OPTIONS],
) -> None:
    """Run every study that a model and some data allow, and draw its portrait; of two models also what differs."""
    values = {"model": model, "full": full, **shared}
    json = values["json"]
    with user_errors(values["debug"]):
        models, sources = split([model, *(corpora or ())])
        folder = values["out"] or default_folder("survey", models)
        if budget and len(models) > 1:
            raise HeadscopeError("--budget is for one model; survey each alone, then both without it")
        facts = [_facts(source, values) for source in sources or ["sample"]]
        plans = planned(facts, task=bool(values["task"]), only=_names(only), without=_names(without))
        if plan:
            print_plan(plans, _estimates(plans, values), budget, json=json)
            return
        with inputs_kept(), run_lock(writable(folder), "headscope survey", on_no_lock=notice):
            timed = budget_of(budget, plans, _estimates(plans, values), folder, values) if budget else None
            paths = folders(models, folder)
            ended = {
                name: dict(run_studies(plans, values | {"model": name}, path, timed)) for name, path in paths.items()
            }
        finish(plans, ended, paths, folder, quiet=values["quiet"], json=json)


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
    shape = checkpoint_shape(locate(values["model"], **options))
    return estimates(plans, shape, values["workers"], full=values["full"])


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The models and the corpora among some words: the first is a model, and those after it that name one.

    A model is `minilm`, a folder with config.json, or a name of the hub that is no file and has no suffix of one.

    Raises `HeadscopeError` for a model that comes twice.

    >>> split(["minilm", "bert-base-uncased", "sample", "treebank.conllu"])
    (['minilm', 'bert-base-uncased'], ['sample', 'treebank.conllu'])
    """
    number = next((index for index, word in enumerate(words[1:], 1) if not is_model(word)), len(words))
    models, corpora = list(words[:number]), list(words[number:])
    if again := next((model for model in models if models.count(model) > 1), ""):
        raise HeadscopeError(f"model '{again}' is given twice; name each model once")
    return models, corpora


def is_model(word: str) -> bool:
    """Whether a word names a model rather than a corpus."""
    if word == "minilm" or (Path(word) / "config.json").is_file():
        return True
    from headscope.models.checkpoint import HUB_NAME

    if word in catalog.names("corpora/readers") or Path(word).exists() or not HUB_NAME.fullmatch(word):
        return False
    return not Path(word.removesuffix(".gz")).suffix[1:2].isalpha()


def folders(models: Sequence[str], directory: Path) -> dict[str, Path]:
    """The folder of each model's survey: that of the command for one, else one within it of the model's name.

    >>> folders(["minilm"], Path("out"))["minilm"].name, folders(["a/bert", "b/bert"], Path("out"))["b/bert"].name
    ('out', 'bert-2')
    """
    if len(models) == 1:
        return {models[0]: directory}
    by_model: dict[str, Path] = {}
    for model in models:
        name = short_name(model)
        again = sum(path.name == name or path.name.startswith(f"{name}-") for path in by_model.values())
        by_model[model] = directory / (f"{name}-{again + 1}" if again else name)
    return by_model
