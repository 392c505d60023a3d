"""Findings of a profile: what the heads attend to, in the order of Clark et al. and Kovaleva et al. (2019)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import examples, layer_means, listed, measured, number, peak, several, strongest
from headscope.results.vocabulary import FEATURES
from headscope.statistics.interval_tests import corrected, q_above, surely
from headscope.statistics.thresholds import RATE

HALF = 0.5  # Clark et al. count the heads that put more than half of their attention on something
NO_OP = 0.9
NEAR_UNIFORM = 0.9
LINGUISTIC = FEATURES[:6]
CLASSES = {"sep": "Separators", "cls": "Start token", "punct": "Punctuation"}
NEIGHBOURS = {-1: "Previous token", 1: "Next token"}


def findings(result: xr.Dataset) -> list[Finding]:
    """What a profile says, without what its model does not have."""
    told = [*_classes(result), *_separators(result), *_neighbours(result), *_breadth(result), *_start_breadth(result)]
    return [*told, *_features(result), *_start_features(result), *_links(result)]


def _classes(result: xr.Dataset) -> Iterator[Finding]:
    for token_class, topic in CLASSES.items():
        array = measured(result, "attention_to", token_class=token_class)
        word = label("token_class", token_class)
        if array is None:
            yield Finding(topic, f"The tokenizer has no {word}: nothing is measured.")
            continue
        mean = f"The average head gives {number(float(array.mean()))} of its attention to {word}"
        where = f"{_against_share(result, array)}. It is highest in {peak(array)}."
        above = _above(array, HALF, f"Heads that give {word} more than half of their attention")
        yield Finding(topic, f"{mean}{where} {above}{examples(array)}")


def _against_share(result: xr.Dataset, array: xr.DataArray) -> str:
    """How the mean and the heads' intervals compare with what uniform attention would give."""
    if "token_share" not in result:
        return ""
    share = float(result["token_share"].sel(token_class=array["token_class"].item()))
    if not share > 0:
        return ""
    times = f"{float(array.mean()) / share:.1f} times the {number(share)} that uniform attention would give"
    surely = int((array["lower"] > share).sum()) if "lower" in array.coords else 0
    return f", {times} ({several(surely, 'head').lower()} exceed it with their whole interval)"


def _above(array: xr.DataArray, limit: float, what: str) -> str:
    """The heads above a limit; if there is none, the highest."""
    readings = strongest(array)
    above = [reading for reading in readings if reading.value > limit]
    if not above:
        return f"{what}: none of {array.size}; the highest is {readings[0]}."
    unsure = sum(reading.lower is not None and reading.lower <= limit for reading in above)
    doubt = f"; of these, {unsure} with an interval that reaches below it" if unsure else ""
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
    near = f"{broad} of {array.size} heads have more than {NEAR_UNIFORM:.0%} of it"
    yield Finding(
        "Broad and focused", f"Uniform attention would have {number(uniform)} nats; {near}. {ends}{examples(array)}"
    )


def _start_breadth(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "cls_entropy")) is not None:
        last = max(means := layer_means(array))
        ends = f"in {peak(array)}; the last layer has {number(means[last])} nats"
        highest = f"the broadest head is {strongest(array)[0]}"
        yield Finding("Breadth of [CLS]", f"The attention of [CLS] is broadest {ends}, and {highest}.{examples(array)}")


def _features(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {name: measured(result, "feature_attention", feature=name) for name in LINGUISTIC}
    found = {name: array for name, array in arrays.items() if array is not None}
    if not found:
        return
    ranked = sorted(found, key=lambda name: -_times_median(found[name]))
    q = _above_median(with_interval(result, "feature_attention").sel(feature=list(found)))
    told = "; ".join(_standing_out(name, found[name]) + _rate(q, found[name], feature=name) for name in ranked[:3])
    tests = (
        f" (q: of giving no more than the median head, {corrected(q, 'heads and features')})" if q is not None else ""
    )
    special = [measured(result, "feature_attention", feature=name) for name in ("cls", "sep")]
    beside = ", ".join(
        f"{label('feature', a['feature'].item())} {number(float(a.mean()))}" for a in special if a is not None
    )
    compared = f" For comparison, the mean over all heads: {beside}." if beside else ""
    yield Finding("Linguistic features", f"Heads that stand out most from the median head: {told}{tests}.{compared}")


def _above_median(array: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each head is above the median head."""
    return q_above(array, array.median(("layer", "head")))


def _rate(q: xr.DataArray | None, array: xr.DataArray, **place: str) -> str:
    """That of the head with the largest value."""
    if q is None:
        return ""
    best = array.drop_vars(["lower", "upper", "n_examples"], errors="ignore").fillna(-1)
    best = best[best.argmax(("layer", "head"))]
    value = float(q.sel(place).sel(layer=int(best["layer"]), head=int(best["head"])))
    return f", q {'<0.0001' if value < 1e-4 else f'{value:.2g}'}"


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
        above = None if q is None else int((q.sel(relation=relation) < RATE).sum())
        how = "" if q is None else f", {above} heads surely more ({corrected(q, 'heads and links')})"
        heads = f"Strongest in {listed(strongest(part)[:3])}; {middle}{how}."
        position = _by_position(result, strongest(part)[0].head)
        yield Finding(label("relation", relation).capitalize(), f"{heads}{position}{examples(part)}")


def _by_position(result: xr.Dataset, head: str) -> str:
    """Whether a head looks at a neighbour anyway: then a link is perhaps nothing but a position."""
    for offset, topic in NEIGHBOURS.items():
        array = measured(result, "attention_offset", offset=offset)
        always = [reading.head for reading in strongest(array) if reading.value > HALF] if array is not None else []
        if head in always:
            return f" {head} attends to the {topic.lower()} whatever it is, which may be all that it does here."
    return ""
