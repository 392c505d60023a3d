"""Findings of a profile: the attention of the heads, in the order of Clark et al. and Kovaleva et al. (2019)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.claims import above, head_above, most_of_many, together, witness
from headscope.report.parts import Finding
from headscope.report.wording import (
    agree,
    examples,
    first_of,
    layer_means,
    listed,
    mean_of_heads,
    measured,
    n_examples,
    number,
    several,
    spread,
    strongest,
)
from headscope.results.vocabulary import FEATURES
from headscope.statistics.interval_tests import corrected, q_above, surely
from headscope.statistics.significance import RATE
from headscope.studies.profile.page.frequency import by_frequency, by_predictions
from headscope.studies.profile.page.pairs import across, same_word
from headscope.studies.profile.page.sinks import by_part_of_speech, segment_end

HALF = 0.5  # Clark et al. count the heads that put more than half of their attention on something
NO_OP = 0.9
NEAR_UNIFORM = 0.9
LINGUISTIC = FEATURES[:6]
CLASSES = {"sep": "Separators", "cls": "Start token", "punct": "Punctuation"}
NEIGHBOURS = {-1: "Previous token", 1: "Next token"}


def highlights(result: xr.Dataset) -> list[Finding]:
    """Special tokens beside uniform attention, neighbours, copies in the other segment, breadth, and features."""
    heads = [*_most_attended(result), *_positional(result), *same_word(result)]
    return [*heads, *_breadth_in_brief(result), *_clearest_feature(result)]


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first of a model of which no claim holds."""
    share = _share_of_uniform(result)
    near = "This model's attention is near to uniform: no head" if share and share > NEAR_UNIFORM else "No head"
    text = "That one mostly attends to one kind of token, to a neighbour, or to a linguistic feature is not shown."
    return Finding(f"{near} surely stands out", text)


def _most_attended(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {name: measured(result, "attention_to", token_class=name) for name in CLASSES}
    shares = {name: array for name, array in arrays.items() if array is not None}
    if not shares or "token_share" not in result:
        return
    uniform = {name: float(result["token_share"].sel(token_class=name)) for name in shares}
    means = {name: mean_of_heads(array) for name, array in shares.items()}
    claims = together(
        [above(means[name], uniform[name], _fewest(array), least=uniform[name]) for name, array in shares.items()]
    )
    most = list(shares)[at := witness(claims)]
    heads, word = int((shares[most] > HALF).sum()), label("token_class", most)
    named = f"{word[:1].upper()}{word[1:]} gets {means[most].value:.0%} of all attention"
    times = f", {means[most].value / uniform[most]:.1f} times its share of the tokens" if uniform[most] else ""
    yield Finding.judged(
        claims[at],
        f"{several(heads, 'head')} {agree(heads, 'gives', 'give')} it more than half.",
        holds=f"{named}{times}",
        fails="Neither special tokens nor punctuation get much more attention than other tokens",
        undecided=f"{named}, perhaps no more than other tokens",
        unit="examples",
    )


def _fewest(array: xr.DataArray) -> int:
    return (n_examples(array) or (0, 0))[0]


def _positional(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {offset: measured(result, "attention_offset", offset=offset) for offset in NEIGHBOURS}
    present = {offset: array for offset, array in arrays.items() if array is not None}
    if not present:
        return
    heads = {NEIGHBOURS[offset]: _surely_above(array, HALF) for offset, array in present.items()}
    count, claims = sum(map(len, heads.values())), [head_above(array, HALF) for array in present.values()]
    names = [f"{topic.lower()}: {first_of(some, 3, ', ')}" for topic, some in heads.items() if some]
    yield Finding.judged(
        claims[witness(claims)],
        f"{'; '.join(names).capitalize() or 'Of no head it is sure that either gets more than half of its attention'}.",
        holds=f"{several(count, 'head')} mostly {agree(count, 'attends', 'attend')} to a neighbour",
        fails="No head mostly attends to a neighbour",
        undecided="It cannot be told whether a head mostly attends to a neighbour",
        unit="examples",
    )


def _surely_above(array: xr.DataArray, limit: float) -> list[str]:
    """The heads above a limit beyond chance, the strongest first."""
    q = q_above(array, limit)
    return [] if q is None else [reading.head for reading in strongest(array.where(q < RATE)) if reading.value > limit]


def _share_of_uniform(result: xr.Dataset) -> float | None:
    """The mean entropy as a share of that of uniform attention."""
    array = measured(result, "entropy")
    if array is None or "uniform_entropy" not in result or not float(result["uniform_entropy"]) > 0:
        return None
    return float(array.mean()) / float(result["uniform_entropy"])


def _breadth_in_brief(result: xr.Dataset) -> Iterator[Finding]:
    if (share := _share_of_uniform(result)) is not None:
        text = f"The average head has {share:.0%} of the entropy of uniform attention."
        yield Finding("Breadth of attention", text)


def _clearest_feature(result: xr.Dataset) -> Iterator[Finding]:
    """The linguistic feature or link for which a head is farthest from the other heads."""
    links = result["relation"].values.tolist() if "token_attention" in result else []
    arrays = {f"{label('feature', name)}s": measured(result, "feature_attention", feature=name) for name in LINGUISTIC}
    arrays |= {
        f"the link {label('relation', name)}": measured(result, "token_attention", relation=name) for name in links
    }
    present = {what: array for what, array in arrays.items() if array is not None and float(array.median()) > 0}
    if not present:
        return
    claims = {what: most_of_many(array, arrays=len(present)) for what, array in present.items()}
    what = list(claims)[witness([*claims.values()])]
    head, times = strongest(present[what])[0].head, _times_median(present[what])
    yield Finding.judged(
        claims[what],
        f"Head {head}, the highest, gives {what} {times:.1f} times the attention of the median head."
        f"{_by_position(result, [head])}",
        holds=f"Head {head} attends to {what} as no other head does",
        fails="No head stands out by a linguistic feature or link",
        undecided="It cannot be told whether a head stands out by a linguistic feature or link",
        unit="examples",
    )


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, without variables that the model does not have."""
    goes = [*_classes(result), *_separators(result), *by_part_of_speech(result), *segment_end(result)]
    goes += [*by_frequency(result), *by_predictions(result)]
    made = [*goes, *_neighbours(result), *_breadth(result), *_start_breadth(result)]
    return [*made, *_features(result), *_start_features(result), *_links(result), *same_word(result), *across(result)]


def _classes(result: xr.Dataset) -> Iterator[Finding]:
    for token_class, topic in CLASSES.items():
        array = measured(result, "attention_to", token_class=token_class)
        word = label("token_class", token_class)
        if array is None:
            yield Finding(topic, f"Not measured: the tokenizer has no {word}.")
            continue
        mean = f"The average head gives {number(float(array.mean()))} of its attention to {word}"
        layers = f"Means of layers: {spread(array.mean('head'))}."
        above = _above(array, HALF, f"Heads that give {word} more than half of their attention")
        yield Finding(topic, f"{mean}{_against_share(result, array)}. {layers} {above}{examples(array)}")


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
    """The heads above a limit; if there is none, how far the values reach."""
    readings = strongest(array)
    above = [reading for reading in readings if reading.value > limit]
    if not above:
        return f"{what}: none of {array.size} ({spread(array)})."
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
    heads = f"Heads have {spread(array)}."
    if "uniform_entropy" not in result:
        yield Finding("Broad and focused", f"Entropy in nats. {heads}{examples(array)}")
        return
    uniform = float(result["uniform_entropy"])
    broad = int((array > NEAR_UNIFORM * uniform).sum())
    near = f"Uniform attention has {number(uniform)} nats; heads with more than {NEAR_UNIFORM:.0%} of this entropy: "
    yield Finding("Broad and focused", f"{near}{broad} of {array.size}. {heads}{examples(array)}")


def _start_breadth(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "cls_entropy")) is not None:
        last = max(means := layer_means(array))
        nats = f"Heads have {spread(array)}; the last layer has {number(means[last])} on average"
        yield Finding("Breadth of [CLS]", f"Entropy of the attention of [CLS] in nats. {nats}.{examples(array)}")


def _features(result: xr.Dataset) -> Iterator[Finding]:
    arrays = {name: measured(result, "feature_attention", feature=name) for name in LINGUISTIC}
    present = {name: array for name, array in arrays.items() if array is not None}
    if not present:
        return
    q = _above_median(with_interval(result, "feature_attention").sel(feature=list(present)))
    texts = "; ".join(_of_feature(name, array, q) for name, array in present.items())
    tests = f" (test against the median head, {corrected(q, 'heads and features')})" if q is not None else ""
    special = [measured(result, "feature_attention", feature=name) for name in ("cls", "sep")]
    beside = ", ".join(
        f"{label('feature', a['feature'].item())} {number(float(a.mean()))}" for a in special if a is not None
    )
    compared = f" For comparison, the mean over all heads: {beside}." if beside else ""
    yield Finding("Linguistic features", f"Attention of heads: {texts}{tests}.{compared}")


def _above_median(array: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each head is above the median head."""
    return q_above(array, array.median(("layer", "head")))


def _times_median(array: xr.DataArray) -> float:
    return float(array.max()) / max(float(array.median()), 1e-9)


def _of_feature(name: str, array: xr.DataArray, q: xr.DataArray | None) -> str:
    count = f", n = {int(array['n_examples'])}" if "n_examples" in array.coords else ""
    more = "" if q is None else f", {_clearly_more(q.sel(feature=name))}"
    return f"{label('feature', name)} {spread(array)}{more}{count}"


def _start_features(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "cls_feature_attention")
    if array is None:
        return
    last = array.isel(layer=-1).mean("head").dropna("feature")
    means = ", ".join(f"{label('feature', one['feature'].item())} {number(float(one))}" for one in last)
    layer = int(array["layer"][-1])
    yield Finding(
        "[CLS] in the last layer",
        f"In layer {layer}, [CLS] gives on average over heads: {means}.{examples(array)}",
    )


def _links(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "token_attention")
    if array is None:
        return
    q = _above_median(array)
    for relation in array.dropna("relation", how="all")["relation"].values.tolist():
        part = array.sel(relation=relation)
        how = "" if q is None else f"; {_clearly_more(q.sel(relation=relation))} ({corrected(q, 'heads and links')})"
        heads = f"Heads give {spread(part)}{how}."
        position = "" if q is None else _by_position(result, _names(part.where(q.sel(relation=relation) < RATE)))
        yield Finding(label("relation", relation).capitalize(), f"{heads}{position}{examples(part)}")


def _clearly_more(q: xr.DataArray) -> str:
    above = int((q < RATE).sum())
    return f"{several(above, 'head').lower()} {agree(above, 'gives', 'give')} clearly more"


def _names(array: xr.DataArray) -> list[str]:
    return [reading.head for reading in strongest(array)]


def _by_position(result: xr.Dataset, heads: list[str]) -> str:
    """A warning of heads that attend to a neighbour in any case: the link may be only a position."""
    text = ""
    for offset, topic in NEIGHBOURS.items():
        array = measured(result, "attention_offset", offset=offset)
        mostly = _names(array.where(array > HALF)) if array is not None else []
        if some := [head for head in mostly if head in heads]:
            named = f"{'Head' if len(some) == 1 else 'Heads'} {', '.join(some)}"
            verb = agree(len(some), "attends", "attend")
            text += f" {named} mostly {verb} to the {topic.lower()}; this may explain the link."
    return text
