"""Findings of a profile: the attention of the heads, in the order of Clark et al. and Kovaleva et al. (2019)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import (
    agree,
    examples,
    first_of,
    layer_means,
    listed,
    measured,
    number,
    peak,
    peak_layer,
    rate,
    several,
    strongest,
)
from headscope.results.vocabulary import FEATURES
from headscope.statistics.interval_tests import corrected, q_above, surely
from headscope.statistics.thresholds import RATE

HIGHLIGHTS = 5
HALF = 0.5  # Clark et al. count the heads that put more than half of their attention on something
NO_OP = 0.9
NEAR_UNIFORM = 0.9
LINGUISTIC = FEATURES[:6]
CLASSES = {"sep": "Separators", "cls": "Start token", "punct": "Punctuation"}
NEIGHBOURS = {-1: "Previous token", 1: "Next token"}


def highlights(result: xr.Dataset) -> list[Finding]:
    """Special tokens, neighbours, breadth and the clearest linguistic feature."""
    parts = [*_most_attended(result), *_positional(result), *_extreme_breadth(result), *_clearest_feature(result)]
    return parts[:HIGHLIGHTS]


def _most_attended(result: xr.Dataset) -> Iterator[Finding]:
    means = {name: measured(result, "attention_to", token_class=name) for name in CLASSES}
    shares = {name: float(array.mean()) for name, array in means.items() if array is not None}
    if shares:
        most = max(shares, key=lambda name: shares[name])
        heads = int((result["attention_to"].sel(token_class=most) > HALF).sum())
        word = label("token_class", most)
        topic = f"{word[:1].upper()}{word[1:]} gets {shares[most]:.0%} of all attention"
        yield Finding(topic, f"{several(heads, 'head')} {agree(heads, 'gives', 'give')} it more than half.")


def _positional(result: xr.Dataset) -> Iterator[Finding]:
    names, count = [], 0
    for offset, topic in NEIGHBOURS.items():
        array = measured(result, "attention_offset", offset=offset)
        heads = [] if array is None else [each.head for each in strongest(array) if each.value > HALF]
        count += len(heads)
        names += [f"{topic.lower()}: {first_of(heads, 3, ', ')}"] if heads else []
    topic = f"{several(count, 'head')} mostly {agree(count, 'attends', 'attend')} to a neighbour"
    which = "; ".join(names).capitalize() or "Neither neighbour gets more than half of the attention of a head"
    yield Finding(topic, f"{which}.")


def _extreme_breadth(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "entropy")) is not None:
        readings = strongest(array)
        text = f"Head {readings[0].head} spreads its attention most widely, head {readings[-1].head} focuses it most."
        yield Finding(f"Attention is broadest in layer {peak_layer(array)}", text)


def _clearest_feature(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {name: measured(result, "feature_attention", feature=name) for name in LINGUISTIC}
    present = {name: array for name, array in arrays.items() if array is not None and float(array.median()) > 0}
    if present:
        name = max(present, key=lambda name: _times_median(present[name]))
        head, times = strongest(present[name])[0].head, _times_median(present[name])
        word = label("feature", name)
        text = f"It gives a {word} {times:.1f} times as much attention as the median head."
        yield Finding(f"Head {head} attends to {word}s", text)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, without variables that the model does not have."""
    every = [*_classes(result), *_separators(result), *_neighbours(result), *_breadth(result), *_start_breadth(result)]
    return [*every, *_features(result), *_start_features(result), *_links(result)]


def _classes(result: xr.Dataset) -> Iterator[Finding]:
    for token_class, topic in CLASSES.items():
        array = measured(result, "attention_to", token_class=token_class)
        word = label("token_class", token_class)
        if array is None:
            yield Finding(topic, f"Not measured: the tokenizer has no {word}.")
            continue
        mean = f"The average head gives {number(float(array.mean()))} of its attention to {word}"
        where = f"{_against_share(result, array)}. It is highest in {peak(array)}."
        above = _above(array, HALF, f"Heads that give {word} more than half of their attention")
        yield Finding(topic, f"{mean}{where} {above}{examples(array)}")


def _against_share(result: xr.Dataset, array: xr.DataArray) -> str:
    """The mean and the intervals beside uniform attention."""
    if "token_share" not in result:
        return ""
    share = float(result["token_share"].sel(token_class=array["token_class"].item()))
    if not share > 0:
        return ""
    times = f"{float(array.mean()) / share:.1f} times uniform attention ({number(share)})"
    above = int((array["lower"] > share).sum()) if "lower" in array.coords else 0
    return f", {times}; {several(above, 'head').lower()} {agree(above, 'lies', 'lie')} above it by the 95% interval"


def _above(array: xr.DataArray, limit: float, what: str) -> str:
    """The heads above a limit; if there is none, the highest."""
    readings = strongest(array)
    above = [reading for reading in readings if reading.value > limit]
    if not above:
        return f"{what}: none of {array.size}; the highest is {readings[0]}."
    unsure = sum(reading.estimate.lower <= limit for reading in above)
    doubt = f"; for {unsure} of these the interval includes {limit}" if unsure else ""
    sure = surely(q_above(array, limit), "heads")
    middle = f"the median head gives {number(float(array.median()))}"
    return f"{what}: {len(above)} of {array.size}, {listed(above)}{doubt}; {sure}{'; ' if sure else ''}{middle}."


def _separators(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "sep_to_sep")) is not None:
        mean = f"From a separator, the average head gives {number(float(array.mean()))} of its attention to separators."
        above = _above(array, NO_OP, f"Heads that give more than {NO_OP}")
        yield Finding("Separator to separator", f"{mean} {above}{examples(array)}")


def _neighbours(result: xr.Dataset) -> Iterator[Finding]:
    for offset, topic in NEIGHBOURS.items():
        if (array := measured(result, "attention_offset", offset=offset)) is not None:
            what = f"Heads that give the {topic.lower()} more than half of their attention"
            yield Finding(topic, f"{_above(array, HALF, what)}{examples(array)}")


def _breadth(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "entropy")) is None:
        return
    readings = strongest(array)
    ends = f"Broadest: {listed(readings[:3])}. Most focused: {listed(readings[::-1][:3])}."
    if "uniform_entropy" not in result:
        yield Finding("Broad and focused", f"Entropy in nats. {ends}{examples(array)}")
        return
    uniform = float(result["uniform_entropy"])
    broad = sum(reading.value > NEAR_UNIFORM * uniform for reading in readings)
    near = f"heads with more than {NEAR_UNIFORM:.0%} of this entropy: {broad} of {array.size}"
    yield Finding("Broad and focused", f"Uniform attention has {number(uniform)} nats; {near}. {ends}{examples(array)}")


def _start_breadth(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "cls_entropy")) is not None:
        last = max(means := layer_means(array))
        ends = f"in {peak(array)}; the last layer has {number(means[last])} nats"
        highest = f"the broadest head is {strongest(array)[0]}"
        yield Finding("Breadth of [CLS]", f"The attention of [CLS] is broadest {ends}, and {highest}.{examples(array)}")


def _features(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {name: measured(result, "feature_attention", feature=name) for name in LINGUISTIC}
    present = {name: array for name, array in arrays.items() if array is not None}
    if not present:
        return
    ranked = sorted(present, key=lambda name: -_times_median(present[name]))
    q = _above_median(with_interval(result, "feature_attention").sel(feature=list(present)))
    texts = "; ".join(_standing_out(name, present[name]) + _rate(q, present[name], feature=name) for name in ranked[:3])
    tests = f" (q: test against the median head, {corrected(q, 'heads and features')})" if q is not None else ""
    special = [measured(result, "feature_attention", feature=name) for name in ("cls", "sep")]
    beside = ", ".join(
        f"{label('feature', a['feature'].item())} {number(float(a.mean()))}" for a in special if a is not None
    )
    compared = f" For comparison, the mean over all heads: {beside}." if beside else ""
    yield Finding("Linguistic features", f"Heads that differ most from the median head: {texts}{tests}.{compared}")


def _above_median(array: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each head is above the median head."""
    return q_above(array, array.median(("layer", "head")))


def _rate(q: xr.DataArray | None, array: xr.DataArray, **place: str) -> str:
    """The false discovery rate of the head with the largest value, in words."""
    if q is None:
        return ""
    best = array.drop_vars(["lower", "upper", "n_examples"], errors="ignore").fillna(-1)
    best = best[best.argmax(("layer", "head"))]
    value = float(q.sel(place).sel(layer=int(best["layer"]), head=int(best["head"])))
    return f", q {rate(value)}"


def _times_median(array: xr.DataArray) -> float:
    return float(array.max()) / max(float(array.median()), 1e-9)


def _standing_out(name: str, array: xr.DataArray) -> str:
    count = f", n = {int(array['n_examples'])}" if "n_examples" in array.coords else ""
    times = f"{_times_median(array):.1f} times the median head"
    return f"{label('feature', name)} in {strongest(array)[0]}, {times}{count}"


def _start_features(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "cls_feature_attention")
    if array is None:
        return
    last = array.isel(layer=-1).mean("head").dropna("feature")
    order = last["feature"].values[last.argsort().values[::-1]].tolist()
    ranked = ", ".join(f"{label('feature', name)} {number(float(last.sel(feature=name)))}" for name in order[:3])
    layer = int(array["layer"][-1])
    yield Finding(
        "[CLS] in the last layer",
        f"In layer {layer}, [CLS] gives most to {ranked} (means over heads).{examples(array)}",
    )


def _links(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "token_attention")
    if array is None:
        return
    q = _above_median(array)
    for relation in array.dropna("relation", how="all")["relation"].values.tolist():
        part = array.sel(relation=relation)
        middle = f"the median head gives {number(float(part.median()))}"
        how = "" if q is None else _clearly_more(q, relation)
        heads = f"Strongest in {listed(strongest(part)[:3])}; {middle}{how}."
        position = _by_position(result, strongest(part)[0].head)
        yield Finding(label("relation", relation).capitalize(), f"{heads}{position}{examples(part)}")


def _clearly_more(q: xr.DataArray, relation: str) -> str:
    above = int((q.sel(relation=relation) < RATE).sum())
    heads = f"{several(above, 'head').lower()} {agree(above, 'gives', 'give')}"
    return f", {heads} clearly more ({corrected(q, 'heads and links')})"


def _by_position(result: xr.Dataset, head: str) -> str:
    """A warning where the head attends to a neighbour in any case: the link may be only a position."""
    for offset, topic in NEIGHBOURS.items():
        array = measured(result, "attention_offset", offset=offset)
        always = [reading.head for reading in strongest(array) if reading.value > HALF] if array is not None else []
        if head in always:
            return f" Head {head} always attends to the {topic.lower()}; this may explain the link."
    return ""
