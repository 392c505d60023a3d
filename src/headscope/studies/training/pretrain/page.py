"""The page of `pretrain`: which ways learn, which has the lower loss, and which has certain heads first."""

from collections.abc import Iterator
from math import nan

import numpy as np

from headscope.figures.labels import label
from headscope.report.claims import Claim, seeds_apart, weakest
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, estimate, number, several

# Differences of losses, in nats, and of first steps, in logarithms, that are worth a sentence.
LEAST_NATS, LEAST_LOG = 0.05, np.log(1.1)
# What predicts the next word has another loss.
CAUSAL = "next-word"
HEADS = {
    "previous": "a head that looks at the previous token",
    "next": "a head that looks at the next token",
    "special": "the sink: heads that look at [CLS] and [SEP]",
}
MEANING = {
    "previous": "one head gives the previous token a third of its attention",
    "next": "one head gives the next token a third of its attention",
    "special": "the heads give [CLS] and [SEP] a third of their attention on average",
}


def _gain(numbers: Numbers, way: str) -> Claim:
    """How far the loss of a way is below that of frequencies."""
    gain = numbers("frequency_gain", way=way)
    return Claim(gain.value, 0.0, gain, numbers.n("frequency_gain", way=way), least=LEAST_NATS)


def _learned(numbers: Numbers) -> list[str]:
    """The ways that surely learn more than frequencies: of others nothing is compared."""
    return [way for way in numbers.labels("frequency_gain", "way") if _gain(numbers, way).verdict == "holds"]


def learned(numbers: Numbers) -> Finding:
    """Which ways learn more than how frequent pieces are."""
    ways, sure = numbers.labels("frequency_gain", "way"), _learned(numbers)
    texts = ", ".join(f"{way} {numbers('frequency_gain', way=way).text}" for way in ways)
    others = ", ".join(way for way in ways if way not in sure)
    return Finding.judged(
        weakest([_gain(numbers, way) for way in sure or ways]),
        f"Loss of held-out pieces by their frequency alone, minus that of the models, in nats: {texts}.",
        holds=f"Learned more than frequencies: {', '.join(sure)}" + (f"; not shown of {others}" if others else ""),
        fails="No way learns more than frequencies",
        undecided="It cannot be told whether a way learns more than frequencies",
        unit="",
    )


def lowest(numbers: Numbers) -> Finding | None:
    """The way with the lowest loss at the end beside the others, seed by seed."""
    by_seed = numbers.array("held_out_loss_by_seed").isel(step=-1)
    losses = {way: by_seed.sel(way=way).values for way in _learned(numbers) if way.split()[0] != CAUSAL}
    return _first_of(
        numbers,
        losses,
        LEAST_NATS,
        {way: numbers("held_out_loss", way=way, step=by_seed["step"].item()).text for way in losses},
        "Loss of masked pieces of the held-out text at the end, in nats",
        holds="Way '{way}' predicts masked pieces best",
        none="Ways are not told apart by their loss",
    )


def heads_first(numbers: Numbers) -> Iterator[Finding]:
    """Which way has heads of a kind first: a way that never has them has them after the last step at the earliest."""
    last = int(numbers.result["step"].values[-1])
    for focus, words in HEADS.items():
        by_seed = numbers.array("first_step_by_seed").sel(focus=focus)
        steps = {way: by_seed.sel(way=way).values for way in _learned(numbers)}
        if all(np.isnan(values).all() for values in steps.values()):
            continue
        finding = _first_of(
            numbers,
            {way: np.log1p(np.where(np.isnan(values), last, values)) for way, values in steps.items()},
            LEAST_LOG,
            {way: _steps(numbers, way, focus, last) for way in steps},
            f"First step at which {MEANING[focus]}",
            holds=f"Way '{{way}}' has {words} first",
            none=f"Ways are not told apart by when they have {words}",
        )
        yield from [finding] if finding else []


def _first_of(
    numbers: Numbers,
    by_way: dict[str, np.ndarray],
    least: float,
    values: dict[str, str],
    what: str,
    *,
    holds: str,
    none: str,
) -> Finding | None:
    """The way with the lowest values of seeds, judged by the comparison with others that shows least."""
    if len(by_way) < 2:
        return None
    first, *others = sorted(by_way, key=lambda way: by_way[way].mean())
    cases, seeds = numbers.n("frequency_gain", way=first), len(by_way[first])
    claims = [seeds_apart(by_way[way], by_way[first], cases, len(others), least) for way in others]
    more = " With one seed nothing is told apart; add --seeds 3." if seeds < 2 else ""
    texts = ", ".join(f"{way} {values[way]}" for way in (first, *others))
    return Finding.judged(
        weakest(claims),
        f"{what}: {texts}; {several(seeds, 'seed')}.{more}",
        holds=holds.format(way=first),
        fails=none,
        undecided=none,
        unit="",
    )


def _first_step(numbers: Numbers, way: str, focus: str) -> Estimate:
    """When a way first has heads of a kind; NaN if it does not in all seeds."""
    result = numbers.result
    return estimate(result, "first_step", way=way, focus=focus) if "first_step" in result else Estimate(nan)


def _steps(numbers: Numbers, way: str, focus: str, last: int) -> str:
    """The first step of a way, or in how many seeds there is one."""
    mean = _first_step(numbers, way, focus)
    if mean.value == mean.value:
        return f"{mean:.0f}"
    there = np.isfinite(numbers.result["first_step_by_seed"].sel(way=way, focus=focus).values)
    return f"in {there.sum()} of {len(there)} seeds within {last:,} steps"


def seeds(numbers: Numbers) -> Finding | None:
    """That one seed has no interval."""
    if numbers.result.sizes["seed"] > 1:
        return None
    return Finding("One seed", "Intervals are over seeds: one seed has none, and no ways are compared; add --seeds 3.")


COSTS = {"train_seconds": "Seconds", "trained_parameters": "Parameters"}
COLUMNS = (
    Column("held_out_loss", "Held-out loss"),
    Column("frequency_gain", "Below frequencies"),
    *(Column("first_step", f"First {label('focus', focus)}") for focus in HEADS),
    *(Column(name, title) for name, title in COSTS.items()),
)


def table(numbers: Numbers) -> Table:
    """A row for each way."""
    result, last = numbers.result, numbers.result["step"].values[-1]
    rows = []
    for way in numbers.labels("held_out_loss", "way"):
        cells = [
            numbers("held_out_loss", way=way, step=last).cell(".3f"),
            estimate(result, "frequency_gain", way=way).known_cell("+.3f"),
            *(_first_step(numbers, way, focus).known_cell(".0f") for focus in HEADS),
            *((number(float(result[name].sel(way=way)), ".3g"), "") for name in COSTS),
        ]
        rows.append(((way,), cells))
    caption = (
        f"After {last:,} steps; the mean over seeds, with 95% intervals over seeds. First steps: when "
        f"{'; when '.join(MEANING.values())}. Empty where that is not in all seeds. The loss of {CAUSAL} is that of "
        "next pieces, not of masked ones."
    )
    return Table("ways", caption, ("Way",), COLUMNS, rows)


COURSE, LOOKS = "The course of each way", "What heads look at"
OVER_SEEDS = "Mean over seeds, with 95% intervals over seeds; steps are spaced by their logarithms."
STYLE = {"dim": "step", "log": True}


def _looks(focus: str, title: str) -> Chart:
    return Chart(
        "focus_share", "curve", LOOKS, f"{OVER_SEEDS} Above the dashed line {MEANING[focus]}.", f"focus-{focus}",
        ("step", "way"), {"focus": focus}, title=title, style=STYLE | {"reference": 1 / 3},
    )  # fmt: skip


PAGE = StudyParts(
    highlights=(learned, lowest, heads_first),
    findings=(seeds,),
    charts=(
        Chart("held_out_loss", "curve", COURSE, OVER_SEEDS, dims=("step", "way"), style=STYLE),
        _looks("previous", "Most attention of a head to the previous token"),
        _looks("next", "Most attention of a head to the next token"),
        _looks("special", "Attention to [CLS] and [SEP], mean over heads"),
        Chart("mean_entropy", "curve", LOOKS, OVER_SEEDS, dims=("step", "way"), style=STYLE),
        Chart(
            *("train_loss", "curve", COURSE, "Each point is the mean over a fiftieth of the training, and over seeds."),
            dims=("progress", "way"),
            style={"dim": "progress", "percent": True},
        ),
    ),
    tables=(table,),
)
