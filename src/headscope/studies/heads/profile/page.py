"""The page of `profile`: the attention of the heads, in the order of Clark et al. and Kovaleva et al. (2019)."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.claims import above, head_above, most_of_many, together, witness
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.published import CAPTION, attention_figures, published_table
from headscope.report.tables import Table
from headscope.report.wording import (
    agree,
    examples,
    first_of,
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
from headscope.statistics.significance import LEAST_CASES, RATE, corrected, q_above, surely, surely_above
from headscope.studies.heads.profile.card import CARD, KINDS
from headscope.studies.heads.profile.charts import CHARTS
from headscope.studies.heads.profile.findings import across, by_frequency, by_predictions, same_word
from headscope.studies.heads.profile.group_parts import FINDINGS
from headscope.studies.heads.profile.pair_parts import pairs

HALF = 0.5  # Clark et al. count the heads that put more than half of their attention on something
NEAR_UNIFORM = 0.9
LINGUISTIC = FEATURES[:6]
CLASSES = {"sep": "Separators", "cls": "Start token", "punct": "Punctuation"}
NEIGHBOURS = {-1: "Previous token", 1: "Next token"}


def most_attended(numbers: Numbers) -> Finding:
    """The class of tokens that gets most attention, beside uniform attention."""
    shares = by_class(numbers)
    uniform = {name: numbers("token_share", token_class=name).value for name in shares}
    means = {name: mean_of_heads(array) for name, array in shares.items()}
    fewest = {name: (n_examples(array) or (0, 0))[0] for name, array in shares.items()}
    claims = together([above(means[name], uniform[name], fewest[name], least=uniform[name]) for name in shares])
    most = list(shares)[index := witness(claims)]
    heads, word = int((shares[most] > HALF).sum()), label("token_class", most)
    share = f"{word[:1].upper()}{word[1:]} gets {means[most].value:.0%} of all attention"
    times = f", {means[most].value / uniform[most]:.1f} times uniform attention" if uniform[most] else ""
    return Finding.judged(
        claims[index],
        f"{several(heads, 'head')} {agree(heads, 'gives', 'give')} it more than half.",
        holds=f"{share}{times}",
        fails="Neither special tokens nor punctuation get much more attention than other tokens",
        undecided=f"{share}, perhaps no more than other tokens",
        unit="examples",
    )


def by_class(numbers: Numbers) -> dict[str, xr.DataArray]:
    """The attention to separators, the start token and punctuation, without those that the tokenizer does not have."""
    there = numbers.labels("attention_to", "token_class")
    return {name: numbers.array("attention_to", token_class=name) for name in CLASSES if name in there}


def by_offset(numbers: Numbers) -> dict[int, xr.DataArray]:
    """The attention to the previous and to the next token."""
    arrays = with_values(numbers, "attention_offset", "offset")
    return {offset: arrays[offset] for offset in NEIGHBOURS if offset in arrays}


def positional(numbers: Numbers) -> Iterator[Finding]:
    """The heads that mostly look at a neighbour."""
    if not (arrays := by_offset(numbers)):
        return
    heads = {NEIGHBOURS[offset]: _surely_above(array, HALF) for offset, array in arrays.items()}
    count, claims = sum(map(len, heads.values())), [head_above(array, HALF) for array in arrays.values()]
    names = [f"{topic.lower()}: {first_of(some, 3, ', ')}" for topic, some in heads.items() if some]
    yield Finding.judged(
        claims[witness(claims)],
        f"{'; '.join(names).capitalize() or 'No head clearly gives either more than half of its attention'}.",
        holds=f"{several(count, 'head')} mostly {agree(count, 'attends', 'attend')} to a neighbour",
        fails="No head mostly attends to a neighbour",
        undecided="It cannot be told whether a head mostly attends to a neighbour",
        unit="examples",
    )


def _surely_above(array: xr.DataArray, limit: float) -> list[str]:
    """The heads above a limit beyond chance, the strongest first."""
    sure = array.where(surely_above(array, limit))
    return [reading.head for reading in strongest(sure) if reading.value > limit]


def average_breadth(numbers: Numbers) -> Iterator[Finding]:
    """The mean entropy as a share of that of uniform attention, which is 0 if all inputs have one token."""
    if uniform := numbers("uniform_entropy").value:
        share = float(numbers.array("entropy").mean()) / uniform
        topic = f"Attention has {share:.0%} of the entropy of uniform attention"
        yield Finding(topic, "The mean over heads; a lower share means that heads look at fewer tokens.")


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first of a model of which no claim holds."""
    entropy, even = (float(result[name].mean()) if name in result else 0.0 for name in ("entropy", "uniform_entropy"))
    near = "This model's attention is near to uniform: no head" if entropy > NEAR_UNIFORM * even > 0 else "No head"
    text = "None is shown to prefer one kind of token, a neighbour, or a linguistic feature."
    return Finding(f"{near} clearly stands out", text)


def clearest_feature(numbers: Numbers) -> Iterator[Finding]:
    """The linguistic feature or link for which a head is farthest from the other heads."""
    features, links = (
        with_values(numbers, "feature_attention", "feature"),
        with_values(numbers, "token_attention", "relation"),
    )
    arrays = {f"{label('feature', name)}s": array for name, array in features.items() if name in LINGUISTIC}
    arrays |= {f"the link {label('relation', name)}": array for name, array in links.items()}
    arrays = {what: array for what, array in arrays.items() if float(array.median()) > 0}
    if not arrays:
        return
    claims = {what: most_of_many(array, arrays=len(arrays)) for what, array in arrays.items()}
    what = list(claims)[witness([*claims.values()])]
    head, times = strongest(arrays[what])[0].head, float(arrays[what].max()) / max(float(arrays[what].median()), 1e-9)
    yield Finding.judged(
        claims[what],
        f"Head {head}, the highest, gives {what} {times:.1f} times the attention of the median head."
        f"{_by_position(numbers, [head])}",
        holds=f"Head {head} attends to {what} as no other head does",
        fails="No head stands out by a linguistic feature or link",
        undecided="It cannot be told whether a head stands out by a linguistic feature or link",
        unit="examples",
    )


def with_values(numbers: Numbers, name: str, dim: str) -> dict[Any, xr.DataArray]:
    """The arrays of the labels that have values; none where the result does not have any."""
    array = measured(numbers.result, name)
    present = [] if array is None else array.dropna(dim, how="all")[dim].values.tolist()
    return {value: numbers.array(name, **{dim: value}) for value in present}


def classes(numbers: Numbers) -> Iterator[Finding]:
    """The attention to separators, the start token and punctuation, beside uniform attention."""
    arrays = by_class(numbers)
    for name, topic in CLASSES.items():
        word = label("token_class", name)
        if name not in arrays:
            yield Finding(topic, f"Not measured: the tokenizer has no {word}.")
        elif not float((array := arrays[name]).max()):
            yield Finding(topic, f"Not measured: the inputs have no {word}.")
        else:
            mean = f"The average head gives {number(float(array.mean()))} of its attention to {word}"
            layers = f"Means of layers: {spread(array.mean('head'))}."
            heads = heads_above(array, HALF, f"Heads that give {word} more than half of their attention")
            yield Finding(topic, f"{mean}{_against_share(numbers, name, array)}. {layers} {heads}{examples(array)}")


def _against_share(numbers: Numbers, name: str, array: xr.DataArray) -> str:
    """The mean and the intervals beside uniform attention."""
    share = float(numbers.result["token_share"].sel(token_class=name)) if "token_share" in numbers.result else 0.0
    if not share > 0:
        return ""
    times = f"{float(array.mean()) / share:.1f} times uniform attention ({number(share)})"
    heads = int((array["lower"] > share).sum()) if "lower" in array.coords else 0
    return f", {times}; {several(heads, 'head').lower()} {agree(heads, 'lies', 'lie')} above it by the 95% interval"


def heads_above(array: xr.DataArray, limit: float, what: str) -> str:
    """The heads above a limit; if there is none, how far the values reach."""
    readings = [reading for reading in strongest(array) if reading.value > limit]
    if not readings:
        return f"{what}: none of {array.size} ({spread(array)})."
    unsure = sum(reading.estimate.lower <= limit for reading in readings)
    doubt = f"; for {unsure} of these the interval includes {limit}" if unsure else ""
    sure = surely(q_above(array, limit), "heads")
    middle = f"the median head gives {number(float(array.median()))}"
    return f"{what}: {len(readings)} of {array.size}, {listed(readings)}{doubt}; {sure}{'; ' if sure else ''}{middle}."


def by_part_of_speech(numbers: Numbers) -> Iterator[Finding]:
    """How much of their attention words of each part of speech give special tokens."""
    array = numbers.array("sink_by_part_of_speech")
    frequent = array.sel(part_of_speech=array["n_examples"] >= LEAST_CASES).dropna("part_of_speech", how="all")
    if frequent.sizes["part_of_speech"] > 1:
        means = frequent.mean(("layer", "head")).sortby(frequent.mean(("layer", "head")), ascending=False)
        texts = ", ".join(f"{mean['part_of_speech'].item()} {number(float(mean))}" for mean in means)
        apart = frequent.max("part_of_speech") - frequent.min("part_of_speech")
        yield Finding(
            "Special tokens by part of speech",
            f"The average head gives special tokens, from words of each part of speech: {texts}. Heads differ by part "
            f"of speech by {spread(apart)}. A head whose function does not apply to a word may look there. Parts of "
            f"speech with at least {LEAST_CASES} examples.",
        )


def segment_end(numbers: Numbers) -> Finding:
    """The heads that look at the last token of a segment."""
    array = numbers.array("segment_end")
    what = "Heads that give the last token of a segment, often its final punctuation, more than half of their attention"
    return Finding("End of a segment", f"{heads_above(array, HALF, what)}{examples(array)}")


def breadth(numbers: Numbers) -> Finding:
    """Broad and focused heads."""
    array, uniform = numbers.array("entropy"), numbers("uniform_entropy").value
    broad = int((array > NEAR_UNIFORM * uniform).sum())
    near = f"Uniform attention has {number(uniform)} nats; heads with more than {NEAR_UNIFORM:.0%} of this entropy: "
    return Finding("Broad and focused", f"{near}{broad} of {array.size}. Heads have {spread(array)}.{examples(array)}")


def features(numbers: Numbers) -> Iterator[Finding]:
    """Attention to linguistic features, beside special tokens."""
    arrays = with_values(numbers, "feature_attention", "feature")
    if not (present := [name for name in LINGUISTIC if name in arrays]):
        return
    q = _above_median(with_interval(numbers.result, "feature_attention").sel(feature=present))
    texts = "; ".join(_of_feature(name, arrays[name], q) for name in present)
    tests = f" (test against the median head, {corrected(q, 'heads and features')})" if q is not None else ""
    means = [
        f"{label('feature', name)} {number(float(arrays[name].mean()))}" for name in ("cls", "sep") if name in arrays
    ]
    beside = f" For comparison, the mean over all heads: {', '.join(means)}." if means else ""
    yield Finding("Linguistic features", f"Attention of heads: {texts}{tests}.{beside}")


def _above_median(array: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each head is above the median head."""
    return q_above(array, array.median(("layer", "head")))


def _of_feature(name: str, array: xr.DataArray, q: xr.DataArray | None) -> str:
    count = f", n = {int(array['n_examples'])}" if "n_examples" in array.coords else ""
    more = "" if q is None else f", {_clearly_more(q.sel(feature=name))}"
    return f"{label('feature', name)} {spread(array)}{more}{count}"


def start_features(numbers: Numbers) -> Iterator[Finding]:
    """What [CLS] looks at in the last layer; nothing where it sees itself alone."""
    array = numbers.array("cls_feature_attention")
    last = array.isel(layer=-1).mean("head").dropna("feature")
    means = ", ".join(f"{label('feature', mean['feature'].item())} {number(float(mean))}" for mean in last)
    if round(float(last.max()), 6) < 1:
        text = f"In layer {int(array['layer'][-1])}, [CLS] gives on average over heads: {means}.{examples(array)}"
        yield Finding("[CLS] in the last layer", text)


def links(numbers: Numbers) -> Iterator[Finding]:
    """Attention between linked words."""
    q = _above_median(numbers.array("token_attention"))
    for relation, array in with_values(numbers, "token_attention", "relation").items():
        more = "."
        if q is not None:
            rate = q.sel(relation=relation)
            heads = [reading.head for reading in strongest(array.where(rate < RATE))]
            more = f"; {_clearly_more(rate)} ({corrected(q, 'heads and links')}).{_by_position(numbers, heads)}"
        yield Finding(label("relation", relation).capitalize(), f"Heads give {spread(array)}{more}{examples(array)}")


def _clearly_more(q: xr.DataArray) -> str:
    heads = int((q < RATE).sum())
    return f"{several(heads, 'head').lower()} {agree(heads, 'gives', 'give')} clearly more"


def _by_position(numbers: Numbers, heads: list[str]) -> str:
    """A warning of heads that attend to a neighbour in any case: the link may be only a position."""
    text = ""
    for offset, array in by_offset(numbers).items():
        if names := [reading.head for reading in strongest(array.where(array > HALF)) if reading.head in heads]:
            verb = agree(len(names), "attends", "attend")
            text += (
                f" {'Head' if len(names) == 1 else 'Heads'} {', '.join(names)} mostly {verb} to the "
                f"{NEIGHBOURS[offset].lower()}; this may explain the link."
            )
    return text


def published(numbers: Numbers) -> list[Table]:
    """The figures of Clark et al., beside the same numbers of the profile."""
    return published_table(attention_figures(numbers.result), CAPTION)


PAGE = StudyParts(
    highlights=(most_attended, *FINDINGS, positional, same_word, average_breadth, clearest_feature),
    findings=(
        *(classes, by_part_of_speech, segment_end, by_frequency, by_predictions, breadth),
        *(pairs, features, start_features, links, across),
    ),
    charts=CHARTS,
    tables=(published,),
    kinds=KINDS,
    card=CARD,
    no_claim=no_claim,
)
