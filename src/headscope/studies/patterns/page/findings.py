"""The patterns of heads in sentences."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import (
    agree,
    estimate,
    examples,
    layer_means,
    listed,
    number,
    of_array,
    several,
    spread,
    strongest,
)
from headscope.statistics.interval_tests import corrected, q_above
from headscope.statistics.significance import RATE
from headscope.studies.patterns.page.figures import over_corpora

HALF = 0.5
MEANINGS = {
    "vertical": "All tokens attend to the same few tokens.",
    "diagonal": "Each token attends to itself or a neighbour.",
    "vertical_diagonal": "Each token attends to a few tokens that all attend to, and to itself or a neighbour.",
    "block": "Attention is nearly even, over the input or inside its segments: random weights look so, too.",
    "heterogeneous": "They have no simple shape.",
}
CLEAR = ("diagonal", "vertical")
NOTHING = Finding("No maps", "No input has enough tokens for a pattern; use longer texts.")


def highlights(result: xr.Dataset) -> list[Finding]:
    """The most frequent pattern, the heterogeneous maps, heads with a clear shape and those with none."""
    total, share = over_corpora(result, "share_total").dropna("pattern"), over_corpora(result, "share")
    q = q_above(share, HALF)
    sure = share.where(q < RATE) if q is not None else share.where(False)
    best = [(name, reading) for name in CLEAR for reading in strongest(sure.sel(pattern=name))[:1]]
    clear = [f"{reading.head} ({label('pattern', name)})" for name, reading in best if reading.value > HALF]
    mixed = int((share.max("pattern") < HALF).sum())
    heads = int(share.notnull().all("pattern").sum())
    without = "The others have one pattern in more than half of their maps."
    if not mixed:
        without = "More than half of the maps of a head have the same one."
    return [
        *_shares(total),
        Finding("Heads with a clear shape", f"{', '.join(clear) or 'No head surely has one in half of its maps'}."),
        Finding(f"{mixed} of {heads} heads {'has' if mixed == 1 else 'have'} no main pattern", without),
    ]


def _shares(total: xr.DataArray) -> Iterator[Finding]:
    """The most frequent pattern, and the heterogeneous maps."""
    shares = dict(zip(total["pattern"].values.tolist(), total.values.tolist(), strict=True))
    most = max(shares, key=lambda pattern: shares[pattern], default=None)
    if most:
        yield Finding(f"{shares[most]:.0%} of the maps are {label('pattern', most)}", MEANINGS[most])
    if "heterogeneous" in shares and most != "heterogeneous":
        topic = f"{shares['heterogeneous']:.0%} of the maps have no simple pattern"
        yield Finding(topic, "In BERT-base it was 32% to 61%.")


def findings(result: xr.Dataset) -> list[Finding]:
    """The share of each pattern by corpus, layer and head, and the heads in which no pattern prevails."""
    return [*_totals(result), *_heterogeneous(result), *_patterns(result), *_mixed(result), *_kept(result)]


def _totals(result: xr.Dataset) -> Iterator[Finding]:
    total = over_corpora(result, "share_total").dropna("pattern")
    ranked = total.sortby(-total)["pattern"].values.tolist()
    if not ranked:
        return
    shares = ", ".join(f"{label('pattern', pattern)} {of_array(total.sel(pattern=pattern)).text}" for pattern in ranked)
    corpora = f"Mean over {result.sizes['task']} corpora. " if "task" in result.dims else ""
    yield Finding("All maps", f"{corpora}Share of maps: {shares}.{examples(with_interval(result, 'share_total'))}")


def _heterogeneous(result: xr.Dataset) -> Iterator[Finding]:
    """The share of heterogeneous maps, beside the 32% to 61% of the paper."""
    array = with_interval(result, "share_total").sel(pattern="heterogeneous")
    array = array.dropna("task") if "task" in array.dims else array
    if not array.size or array.isnull().all():
        return
    paper = "Kovaleva et al. found 0.32 (MRPC) to 0.61 (QQP) in BERT-base fine-tuned on each task."
    if "task" not in array.dims:
        yield Finding("Heterogeneous maps", f"{of_array(array).text} of all maps. {paper}")
        return
    order = array.sortby(array)["task"].values.tolist()
    low, high = (f"{of_array(array.sel(task=task)).text} ({task})" for task in (order[0], order[-1]))
    yield Finding("Heterogeneous maps", f"From {low} to {high} of the maps of a corpus. {paper}")


def _patterns(result: xr.Dataset) -> Iterator[Finding]:
    share = over_corpora(result, "share")
    q = q_above(share, HALF)
    tests = "" if q is None else corrected(q, "heads and patterns")
    for pattern in share["pattern"].values.tolist():
        array = share.sel(pattern=pattern)
        readings = strongest(array)
        if not readings:
            yield Finding(label("pattern", pattern).capitalize(), "The result has no share of it for any head.")
            continue
        most = [reading for reading in readings if reading.value > HALF]
        beside = (
            "" if q is None or not most else f"; {int((q.sel(pattern=pattern) < RATE).sum())} beyond chance ({tests})"
        )
        median = f"; in the median head {number(float(array.median()))} of the maps"
        heads = f"No head has it in more than half of the maps; the shares reach {number(float(array.max()))}"
        if most:
            verb = agree(len(most), "has", "have")
            heads = f"{len(most)} of {len(readings)} heads {verb} it in more than half of their maps: {listed(most)}"
        where = f" Means of layers: {spread(array.mean('head'))}." if max(layer_means(array).values()) > 0 else ""
        text = f"{heads}{beside}{median}.{where}{examples(array)}"
        yield Finding(label("pattern", pattern).capitalize(), text)


def _mixed(result: xr.Dataset) -> Iterator[Finding]:
    share = over_corpora(result, "share")
    highest = share.max("pattern")
    mixed = [reading for reading in strongest(1 - highest) if reading.value > HALF]
    if not mixed:
        yield Finding("Mixed heads", "More than half of the maps of every head have the same pattern.")
        return
    heads = ", ".join(f"{reading.head} ({number(1 - reading.value)})" for reading in mixed[:5])
    more = f" and {len(mixed) - 5} more" if len(mixed) > 5 else ""
    verb = agree(len(mixed), "has", "have")
    yield Finding(
        "Mixed heads",
        f"{several(len(mixed), 'head')} {verb} no pattern in more than half of the maps. Their largest shares: "
        f"{heads}{more}.",
    )


def _kept(result: xr.Dataset) -> Iterator[Finding]:
    """How many heads have the same pattern on all of several corpora (Kovaleva et al. 2019, section 6)."""
    if "task" in result.dims and "same_pattern" in result:
        share, heads = estimate(result, "same_pattern"), int(result["same_pattern_n_examples"])
        yield Finding(
            "The same pattern on all corpora",
            f"{share.percent} of {several(heads, 'head')} have the same most frequent pattern on all "
            f"{result.sizes['task']} corpora; the interval is over heads.",
        )
