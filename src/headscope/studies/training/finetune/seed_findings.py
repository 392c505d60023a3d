"""What seeds decide: their kinds, the best of several runs, early stopping, and heads on which runs agree."""

from collections.abc import Callable, Iterable, Iterator

import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.claims import above
from headscope.report.declared import Part
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.shared_findings import BETWEEN_SEEDS
from headscope.report.tables import Column, Table
from headscope.report.wording import estimate, first_of, number, several
from headscope.studies.training.finetune.main_scores import main_metric, names, starts

KINDS = {"weights": "new weights", "order": "the order of examples"}
TRAINED = ("finetuned",)
MOST_HEADS = 6
CAPTION = (
    "Standard deviation of the main metric by its source, with 95% intervals: the seed of new weights, that of the "
    "order of examples and dropout, both together, and other dev examples of this number. p: F test against the rest."
)


def way_of(result: xr.Dataset, task: str) -> str:
    """The way that the findings are about: training all weights, else the last."""
    known = starts(result["score"].sel(task=task, metric=main_metric(result, task)))
    return "finetuned" if "finetuned" in known else known[-1]


def runs_of(result: xr.Dataset) -> int:
    """The number of runs of each task and way."""
    return result.sizes.get("trials", 1)


def _spread(result: xr.Dataset, where: dict[str, str]) -> Iterator[Finding]:
    """Whether seeds move the score more than other dev examples would."""
    ratio = estimate(result, "seed_spread", **where)
    if ratio.value != ratio.value:
        return
    task, runs = where["task"], runs_of(result)
    yield Finding.judged(
        above(ratio, 1.0, runs),
        f"The standard deviation of {where['metric']} over {several(runs, 'run')} is {ratio.text} times its standard "
        "error over dev examples.",
        holds=f"{task}: seeds move the score more than other dev examples",
        fails=f"{task}: seeds move the score less than other dev examples",
        undecided=f"{task}: seeds do not surely move the score more than other dev examples",
        unit="runs",
    )


def _sources(result: xr.Dataset, where: dict[str, str]) -> Iterator[Finding]:
    """Whether the seed of each kind moves the score; corrected for both kinds."""
    if bool(result["seed_deviation"].sel(where).isnull().all()):
        return
    rest, examples = (estimate(result, "seed_deviation", seed_source=name, **where) for name in ("rest", "examples"))
    for source, words in KINDS.items():
        found = estimate(result, "seed_deviation", seed_source=source, **where)
        p = float(result["seed_p"].sel(where | {"seed_source": source}))
        yield Finding.judged(
            above(found, 0.0, runs_of(result), min(1.0, len(KINDS) * p)),
            f"Standard deviation of {where['metric']} by the seed of {words}: {found.text}, F test p "
            f"{number(p, '.2g')}; what neither seed explains {rest.text}, other dev examples {examples.text}.",
            holds=f"{where['task']}: the seed of {words} moves the score",
            fails=f"{where['task']}: the seed of {words} does not move the score",
            undecided=f"{where['task']}: the seed of {words} does not surely move the score",
            unit="",
        )


def _best(result: xr.Dataset, where: dict[str, str]) -> Iterator[Finding]:
    if runs_of(result) < 2:
        return
    one, all_runs = (estimate(result, "expected_best", trials=trials, **where) for trials in (1, runs_of(result)))
    if one.value == one.value:
        yield Finding(
            f"{where['task']}: several runs",
            f"{where['metric'].capitalize()} of one run is {one.text} on average; keeping the highest of "
            f"{runs_of(result)} is expected to give {all_runs.text}, chosen on the same dev examples.",
        )


def _stopping(result: xr.Dataset, where: dict[str, str]) -> Iterator[Finding]:
    if bool(result["stopping_loss"].sel(where).isnull().all()):
        return
    texts = []
    for share in result["stopped_share"].values.tolist():
        lost = estimate(result, "stopping_loss", stopped_share=share, **where)
        saved = float(result["stopping_saved"].sel(stopped_share=share))
        texts.append(f"{share:.0%} of the runs saves {saved:.0%} of the steps and loses {lost.text}")
    yield Finding(
        f"{where['task']}: stopping early",
        f"By the score after the first third of the epochs, stopping {', '.join(texts)} of the highest "
        f"{where['metric']}.",
    )


def stopped(numbers: Numbers) -> Finding | None:
    """What `--stop-bad-seeds` did; the runs that went on were chosen, so that nothing is said of seeds."""
    stops = numbers.attribute("recipe").get("stopped")
    if not stops:
        return None
    return Finding(
        "Stopped runs",
        f"{stops['runs']} of {stops['of']} runs were stopped after epoch {stops['epoch']}, which saved "
        f"{stops['saved']:.0%} of the steps. The scores are those of the runs that went on, which were chosen on "
        "dev: they are too good for a mean over seeds.",
    )


def _heads(result: xr.Dataset, where: dict[str, str]) -> Iterator[Finding]:
    """How far runs agree on the heads, and the heads that all runs have among the tenth that matters most."""
    task, init = where["task"], where["init"]
    if bool(result["head_agreement"].sel(task=task, init=init).isnull().all()):
        return
    found = {
        name: estimate(result, "head_agreement", task=task, init=init, head_number=name).text
        for name in result["head_number"].values.tolist()
    }
    entropy = f", entropy {found['entropy']}" if "entropy" in found else ""
    share = result["important_runs"].sel(task=task, init=init)
    always, once = (_named(share.where(chosen)) for chosen in (share == 1, (share > 0) & (share < 1)))
    yield Finding(
        f"{task}: heads of all seeds",
        f"Rank correlation of two runs over heads: importance {found['importance']}, similarity to the start "
        f"{found['similarity']}{entropy}; {found['kind']} of the heads are of one kind. Among the tenth that matters "
        f"most in all runs: {first_of(always, MOST_HEADS) or 'no head'}; in some runs alone: "
        f"{first_of(once, MOST_HEADS) or 'no head'}. {BETWEEN_SEEDS}",
    )


def by_task(part: Callable[[xr.Dataset, dict[str, str]], Iterable[Finding]]) -> Part:
    """A part of a page that says something of each task, of its way and its main metric."""

    def findings(numbers: Numbers) -> Iterator[Finding]:
        result = numbers.result
        for task in names(result):
            yield from part(result, {"task": task, "init": way_of(result, task), "metric": main_metric(result, task)})

    return findings


def _named(values: xr.DataArray) -> list[str]:
    """The heads that have a value."""
    known = values.stack(place=("layer", "head")).dropna("place")
    return [head_name(int(layer), int(head)) for layer, head in known["place"].values.tolist()]


def seed_table(numbers: Numbers) -> Iterator[Table]:
    """A row for each task and way whose seeds were apart."""
    result = numbers.result
    sources, rows = result["seed_source"].values.tolist(), []
    for task in names(result):
        for init in result["init"].values.tolist():
            where = {"task": task, "init": init, "metric": main_metric(result, task)}
            cells = [estimate(result, "seed_deviation", seed_source=one, **where).known_cell(".3f") for one in sources]
            p = [float(result["seed_p"].sel(where | {"seed_source": one})) for one in KINDS]
            if any(cells):
                tests = [(number(value, ".2g"), "") if value == value else None for value in p]
                rows.append(((task, label("init", init)), [*cells, *tests]))
    columns = [Column(one, label("seed_source", one).capitalize()) for one in sources]
    tests = [Column(f"p_{one}", f"p, {label('seed_source', one)}") for one in KINDS]
    yield Table("seeds", CAPTION, ("Task", "Way"), (*columns, *tests), rows)


SEEDS = (*(by_task(part) for part in (_spread, _sources, _best, _stopping, _heads)), stopped)
