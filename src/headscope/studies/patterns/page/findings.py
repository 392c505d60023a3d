"""The patterns of heads in sentences."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import examples, layer_means, listed, number, peak, several, strongest
from headscope.statistics.interval_tests import corrected, q_above
from headscope.statistics.thresholds import RATE
from headscope.studies.patterns.page.figures import over_corpora

HALF = 0.5


def findings(result: xr.Dataset) -> list[Finding]:
    """What share each pattern has, in which corpora, layers and heads, and which heads have none that prevails."""
    return [*_totals(result), *_heterogeneous(result), *_patterns(result), *_mixed(result)]


def _totals(result: xr.Dataset) -> Iterator[Finding]:
    total = over_corpora(result, "share_total")
    ranked = sorted(total["pattern"].values.tolist(), key=lambda pattern: -float(total.sel(pattern=pattern)))
    told = ", ".join(f"{label('pattern', each)} {_value(total.sel(pattern=each))}" for each in ranked)
    of = f"Mean over {result.sizes['task']} corpora. " if "task" in result.dims else ""
    yield Finding("All maps", f"{of}Share of maps: {told}.{examples(with_interval(result, 'share_total'))}")


def _heterogeneous(result: xr.Dataset) -> Iterator[Finding]:
    """Beside what the paper found: 32% to 61%."""
    array = with_interval(result, "share_total").sel(pattern="heterogeneous")
    paper = "Kovaleva et al. found 0.32 (MRPC) to 0.61 (QQP) in BERT-base fine-tuned on each task."
    if "task" not in array.dims:
        yield Finding("Heterogeneous maps", f"{_value(array)} of all maps. {paper}")
        return
    order = array.sortby(array)["task"].values.tolist()
    low, high = (f"{_value(array.sel(task=task))} ({task})" for task in (order[0], order[-1]))
    yield Finding("Heterogeneous maps", f"From {low} to {high} of the maps of a corpus. {paper}")


def _value(array: xr.DataArray) -> str:
    bounds = ""
    if "lower" in array.coords:
        bounds = f" [{number(float(array['lower']))}, {number(float(array['upper']))}]"
    return f"{number(float(array))}{bounds}"


def _patterns(result: xr.Dataset) -> Iterator[Finding]:
    share = over_corpora(result, "share")
    q = q_above(share, HALF)
    tests = "" if q is None else corrected(q, "heads and patterns")
    for pattern in share["pattern"].values.tolist():
        array = share.sel(pattern=pattern)
        readings = strongest(array)
        most = [reading for reading in readings if reading.value > HALF]
        beside = (
            "" if q is None or not most else f"; {int((q.sel(pattern=pattern) < RATE).sum())} beyond chance ({tests})"
        )
        median = f"; the median head has it in {number(float(array.median()))} of its maps"
        heads = f"{len(most)} of {len(readings)} heads: {listed(most)}" if most else f"no head; most in {readings[0]}"
        where = f" Most frequent in {peak(array)}." if max(layer_means(array).values()) > 0 else ""
        text = f"In more than half of the maps of {heads}{beside}{median}.{where}{examples(array)}"
        yield Finding(label("pattern", pattern).capitalize(), text)


def _mixed(result: xr.Dataset) -> Iterator[Finding]:
    share = over_corpora(result, "share")
    highest = share.max("pattern")
    mixed = [reading for reading in strongest(1 - highest) if reading.value > HALF]
    if not mixed:
        yield Finding("Mixed heads", "Every head has a pattern that more than half of its maps show.")
        return
    heads = ", ".join(f"{reading.head} ({number(1 - reading.value)})" for reading in mixed[:5])
    more = f" and {len(mixed) - 5} more" if len(mixed) > 5 else ""
    verb = "has" if len(mixed) == 1 else "have"
    yield Finding(
        "Mixed heads",
        f"{several(len(mixed), 'head')} {verb} no pattern in more than half of the maps; the largest share is that of "
        f"{heads}{more}.",
    )
