"""Ways to fine-tune beside each other: scores, gains on training all weights, costs; and longer chains of inference."""

from collections.abc import Iterator
from math import nan

from headscope.figures.labels import label
from headscope.report.claims import above, weakest
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Estimate, estimate, number, of_array, sentence_case
from headscope.studies.training.finetune.tasks import ALL_WEIGHTS, TaskNumbers, by_task, corrected, tasks

COSTS = (("trained_parameters", 1e6), ("train_seconds", 1.0), ("train_memory", 2**20))
COLUMNS = (
    Column("score", "Score"),
    Column("way_gain", "Beside all weights"),
    Column("trained_parameters", "Trained, millions"),
    Column("train_seconds", "Seconds"),
    Column("train_memory", "Memory, MiB"),
)
CAPTION = (
    "Ways to fine-tune by the main metric of each task, the mean over runs, with 95% intervals over dev examples. "
    "Seconds are those of training steps; memory has weights, gradients, Adam's moments, and what the first batch "
    "keeps for its backward pass."
)


def way_table(numbers: Numbers) -> Iterator[Table]:
    """A row for each task and way."""
    numbers.array("trained_parameters")
    rows = [((task.name, label("init", init)), _cells(task, init)) for task in tasks(numbers) for init in task.inits]
    yield Table("ways", CAPTION, ("Task", "Way"), COLUMNS, rows)


def _cells(task: TaskNumbers, init: str) -> Cells:
    result, where = task.numbers.result, {"task": task.name, "init": init}
    costs = [float(result[name].sel(where)) / scale if name in result else nan for name, scale in COSTS]
    return [
        task("score", init=init).cell(".3f"),
        gain_of(task, init).known_cell("+.3f"),
        *[(number(cost, ".3g"), "") if cost == cost else None for cost in costs],
    ]


@by_task
def against_all_weights(task: TaskNumbers) -> Finding | None:
    """The way that gains most on training all weights; corrected, as it is chosen among all."""
    gains = {init: gain for init in task.inits if (gain := gain_of(task, init)).tested}
    if not gains:
        return None
    order = sorted(gains, key=lambda init: -gains[init].value)
    texts = [f"{label('init', init)} {gains[init].signed}{_share(task, init)}" for init in order]
    words = label("init", order[0])
    return Finding.judged(
        corrected(gains[order[0]], 0.0, task.n("way_gain", init=order[0]), len(gains)),
        f"{sentence_case(task.metric_words)} minus that of training all weights, on the same examples: "
        f"{'; '.join(texts)}.",
        holds=f"{task.name}: {words} scores above training all weights",
        fails=f"{task.name}: no other way scores above training all weights",
        undecided=f"{task.name}: no other way clearly scores above training all weights",
        unit="examples",
    )


@by_task
def longer_chains(task: TaskNumbers) -> Finding:
    """The score on chains of inference that are longer than those of the training."""
    where = {"task": task.name, "init": task.main_init}
    scores = task.numbers.array("chain_score", **where)
    trained, depths = task.numbers.attribute("recipe").get("trained_depth", 0), scores["chain_length"].values.tolist()
    texts = ", ".join(f"{depth}: {of_array(score).percent}" for depth, score in zip(depths, scores, strict=True))
    claims = [
        above(of_array(score), task.chance, task.numbers.n("chain_score", **where, chain_length=int(depth)))
        for depth, score in zip(depths, scores, strict=True)
        if depth > trained
    ]
    return Finding.judged(
        weakest(claims),
        f"Trained on at most {trained} steps; right answers by steps: {texts}. Chance: {task.chance:.0%}.",
        holds=f"{task.name}: short chains teach longer ones",
        fails=f"{task.name}: short chains do not teach longer ones",
        undecided=f"{task.name}: short chains are not shown to teach longer ones",
        unit="examples",
    )


def _share(task: TaskNumbers, init: str) -> str:
    """The share of the parameters that are trained, of those that training all weights trains."""
    if "trained_parameters" not in task.numbers.result:
        return ""
    trained = task.numbers.result["trained_parameters"].sel(task=task.name)
    share = float(trained.sel(init=init)) / float(trained.sel(init=ALL_WEIGHTS))
    return f" with {number(100 * share, '.2g')}% of the trained parameters" if share < 1 else ""


def gain_of(task: TaskNumbers, init: str) -> Estimate:
    """How much better a way is than training all weights; NaN where that is not known."""
    result = task.numbers.result
    return estimate(result, "way_gain", **task.where, init=init) if "way_gain" in result else Estimate(nan)
