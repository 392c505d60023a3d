"""What seeds decide: their kinds, the best of several runs, early stopping, and heads on which runs agree."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.claims import above
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.shared_findings import BETWEEN_SEEDS
from headscope.report.tables import Column, Table
from headscope.report.wording import estimate, first_of, number, sentence_case, several
from headscope.studies.training.finetune.tasks import TaskNumbers, by_task, tasks

KINDS = {"weights": "new weights", "order": "the order of examples"}
MOST_HEADS = 6
CAPTION = (
    "Standard deviation of the main metric by its source, with 95% intervals: the seed of new weights, that of the "
    "order of examples and dropout, both together, and other dev examples of this number. p: F test against the rest."
)


def runs_of(numbers: Numbers) -> int:
    """The number of runs of each task and way."""
    return numbers.result.sizes.get("trials", numbers.result.sizes.get("seed", 1))


@by_task
def seed_spread(task: TaskNumbers) -> Finding:
    """Whether seeds move the score more than other dev examples would."""
    ratio, runs = task("seed_spread", init=task.main_init), runs_of(task.numbers)
    return Finding.judged(
        above(ratio, 1.0, runs),
        f"The standard deviation of {task.metric_words} over {several(runs, 'run')} is {ratio.text} times its standard "
        "error over dev examples.",
        holds=f"{task.name}: seeds move the score more than other dev examples",
        fails=f"{task.name}: seeds move the score less than other dev examples",
        undecided=f"{task.name}: seeds do not clearly move the score more than other dev examples",
        unit="runs",
    )


@by_task
def seed_sources(task: TaskNumbers) -> Iterator[Finding]:
    """Whether the seed of each kind moves the score; corrected for both kinds."""
    rest, examples = (task("seed_deviation", init=task.main_init, seed_source=name) for name in ("rest", "examples"))
    for source, words in KINDS.items():
        deviation = task("seed_deviation", init=task.main_init, seed_source=source)
        p = task("seed_p", init=task.main_init, seed_source=source).value
        yield Finding.judged(
            above(deviation, 0.0, runs_of(task.numbers), min(1.0, len(KINDS) * p)),
            f"Standard deviation of {task.metric_words} due to the seed of {words}: {deviation.text}, F test p "
            f"{number(p, '.2g')}; what neither seed explains {rest.text}, other dev examples {examples.text}.",
            holds=f"{task.name}: the seed of {words} moves the score",
            fails=f"{task.name}: the seed of {words} does not move the score",
            undecided=f"{task.name}: the seed of {words} does not clearly move the score",
            unit="",
        )


@by_task
def several_runs(task: TaskNumbers) -> Finding | None:
    """The score of one run, and that of the best of all."""
    runs = runs_of(task.numbers)
    if runs < 2:
        return None
    single, best = (task("expected_best", init=task.main_init, trials=trials) for trials in (1, runs))
    return Finding(
        f"{task.name}: several runs",
        f"{sentence_case(task.metric_words)} of one run is {single.text} on average; keeping the highest of {runs} is "
        f"expected to give {best.text}, chosen on the same dev examples.",
    )


@by_task
def stopping(task: TaskNumbers) -> Finding:
    """What stopping runs early saves and loses."""
    texts = [
        f"{share:.0%} of the runs saves {task.numbers('stopping_saved', stopped_share=share).value:.0%} of the steps "
        f"and loses {task('stopping_loss', init=task.main_init, stopped_share=share).text}"
        for share in task.numbers.labels("stopping_saved", "stopped_share")
    ]
    return Finding(
        f"{task.name}: stopping early",
        f"By the score after the first third of the epochs, stopping {', '.join(texts)} of the highest "
        f"{task.metric_words}.",
    )


def stopped(numbers: Numbers) -> Finding | None:
    """What `--stop-bad-seeds` did; the remaining runs were chosen, so they say nothing of seeds."""
    stops = numbers.attribute("recipe").get("stopped")
    return stops and Finding(
        "Stopped runs",
        f"{stops['runs']} of {stops['of']} runs were stopped after epoch {stops['epoch']}, which saved "
        f"{stops['saved']:.0%} of the steps. The scores are those of the runs that went on, which were chosen on "
        "dev: they are too good for a mean over seeds.",
    )


@by_task
def heads_of_all_seeds(task: TaskNumbers) -> Finding:
    """How far runs agree on the heads, and the heads that all runs have among the tenth that matters most."""
    where = {"task": task.name, "init": task.main_init}
    agreement = task.numbers.array("head_agreement", **where)
    texts = {
        name: estimate(task.numbers.result, "head_agreement", **where, head_number=name).text
        for name in agreement["head_number"].values.tolist()
    }
    entropy = f", entropy {texts['entropy']}" if "entropy" in texts else ""
    share = task.numbers.array("important_runs", **where)
    always, once = (_named(share.where(chosen)) for chosen in (share == 1, (share > 0) & (share < 1)))
    return Finding(
        f"{task.name}: heads of all seeds",
        f"Rank correlation of two runs over heads: importance {texts['importance']}, similarity to the start "
        f"{texts['similarity']}{entropy}; {texts['kind']} of the heads have the same kind in both. In the most "
        f"important tenth in all runs: {first_of(always, MOST_HEADS) or 'no head'}; in some runs only: "
        f"{first_of(once, MOST_HEADS) or 'no head'}. {BETWEEN_SEEDS}",
    )


def _named(values: xr.DataArray) -> list[str]:
    """The heads that have a value."""
    there = values.stack(place=("layer", "head")).dropna("place")
    return [head_name(int(layer), int(head)) for layer, head in there["place"].values.tolist()]


def seed_table(numbers: Numbers) -> Iterator[Table]:
    """A row for each task and way whose seeds were apart."""
    result, rows = numbers.result, []
    sources = result["seed_source"].values.tolist()
    for task in tasks(numbers):
        for init in result["init"].values.tolist():
            where = task.where | {"init": init}
            cells = [
                estimate(result, "seed_deviation", **where, seed_source=name).known_cell(".3f") for name in sources
            ]
            p = [estimate(result, "seed_p", **where, seed_source=name).known_cell(".2g") for name in KINDS]
            if any(cells):
                rows.append(((task.name, label("init", init)), [*cells, *p]))
    columns = [Column(name, label("seed_source", name).capitalize()) for name in sources]
    tests = [Column(f"p_{name}", f"p, {label('seed_source', name)}") for name in KINDS]
    yield Table("seeds", CAPTION, ("Task", "Way"), (*columns, *tests), rows)


SEEDS = (seed_spread, seed_sources, several_runs, stopping, heads_of_all_seeds, stopped)
