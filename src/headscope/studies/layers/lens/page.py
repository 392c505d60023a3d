"""The page of `lens`: what layers predict beside the most frequent piece and the last layer, and agreement by layer."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.by_layer import layer_grid
from headscope.report.claims import POINT, Claim, above, head_above, no_worse, paired
from headscope.report.declared import Chart, NumberTable, StudyParts
from headscope.report.kinds import where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, HeadKind, LayerNumber
from headscope.report.wording import agree, listed, several, strongest
from headscope.statistics.significance import surely_above

HALF, LETTERS, CONTEXT = 0.5, 8, 26
WRITES = 0.05  # of the gain of the right piece
SPACES = "Space 0 is the embeddings. plain: states as they are; mapped: by an affine map to those of the last layer. "
STATES = {"plain": "as they are", "mapped": "mapped to those of the last layer"}


def lenses(numbers: Numbers) -> list[str]:
    """The lenses of a result that have values."""
    return numbers.labels("final_first", "lens")


def last_layer(numbers: Numbers) -> int:
    """The number of layers."""
    return int(numbers.result["space"][-1])


def predicts(numbers: Numbers) -> Claim:
    """Whether the last layer predicts better than frequencies; else nothing is claimed."""
    share = numbers("right", lens="plain", space=last_layer(numbers))
    return paired(share, numbers("right_most_frequent"), numbers("right_gain"), numbers.n("right"))


def right(numbers: Numbers) -> Iterator[Finding]:
    """Whether the last layer predicts better than frequencies; if so, which early layers do too."""
    last, frequent = last_layer(numbers), numbers("right_most_frequent")
    share = numbers("right", lens="plain", space=last)
    finding = Finding.judged(
        predicts(numbers),
        f"It is right in {share:%}, always the most frequent piece of other texts in {frequent:%}.",
        holds=f"The last layer predicts {share:.0%} of the pieces",
        fails="The last layer predicts pieces no better than their frequency does",
        undecided="It cannot be told whether the last layer predicts pieces better than their frequency does",
        unit="predictions",
    )
    yield finding
    if finding.verdict == "holds" and last > 0:
        yield as_good(numbers, last, lenses(numbers)[-1])


def as_good(numbers: Numbers, last: int, lens: str) -> Finding:
    """The lowest layer that is less than a point worse than the last; tested from the top, up to the first failure.

    The order is fixed before the numbers are known, so that no correction is needed.
    """
    changes = [numbers("right_change", lens=lens, space=space) for space in range(last)]
    claims, lowest = [no_worse(change, POINT, numbers.n("right")) for change in changes], last
    while lowest and claims[lowest - 1].verdict == "holds":
        lowest -= 1
    tested = min(lowest, last - 1)
    layer = f"layer {tested}" if tested else "the embeddings"
    return Finding.judged(
        claims[tested],
        f"With states {STATES[lens]}, {layer} differs by {changes[tested]:+} points in right predictions.",
        holds=f"From {layer} on predictions are less than a point worse than those of the last layer",
        fails="The last layer predicts better than the one before it",
        undecided="It cannot be told whether the layer before the last predicts as well",
        unit="predictions",
    )


def writers(numbers: Numbers) -> Finding | None:
    """Which heads add to the logit of the right piece, where the model predicts better than frequencies do."""
    gain, total = numbers.array("direct_head_gain"), numbers("direct_logit_gain")
    claim = head_above(gain, 0.0)
    if predicts(numbers).verdict != "holds":
        return None
    mask, number = surely_above(gain, 0.0), int(gain.notnull().sum())
    sure = int(mask.sum())
    heads, layers = (float(numbers.array(name).sum()) for name in ("direct_head", "direct_feed_forward"))
    text = (
        "What a head adds to the logit of the right piece, minus what it adds to the pieces of the texts: "
        f"{listed(strongest(gain.where(mask) if sure else gain))}; all parts together {total}. Less the mean logit of "
        f"the vocabulary, the logit is {numbers('direct_logit')}: heads {heads:.2f}, feed-forward parts {layers:.2f}, "
        f"embeddings {numbers('direct_embedding').value:.2f}, biases {numbers('direct_bias').value:.2f}."
    )
    return Finding.judged(
        claim,
        text,
        holds=f"{several(sure, 'head')} of {number} {agree(sure, 'writes', 'write')} the right piece",
        fails="No head writes the right piece rather than others",
        undecided="It cannot be told which heads write the right piece",
        unit="predictions",
    )


def writer_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that add a twentieth or more of what the right piece is above others."""
    gain, total = numbers.array("direct_head_gain"), numbers("direct_logit_gain").value
    if predicts(numbers).verdict != "holds" or total <= 0:
        return []
    return where_true(surely_above(gain, 0.0) & (gain >= WRITES * total), "writer", "writes the word")


def settling(numbers: Numbers) -> Finding:
    """The mean layer from which on predictions stay."""
    last = last_layer(numbers)
    parts = [
        f"with states {STATES[lens]} layer {numbers('settling_layer', lens=lens)}, and "
        f"{numbers('settled', lens=lens, space=last - 1):%} before the last layer"
        for lens in lenses(numbers)
    ]
    text = f"The mean layer (of {last}) from which on the prediction of a word stays: {'; '.join(parts)}."
    return Finding("Where predictions are settled", text)


def agreement(numbers: Numbers) -> Finding:
    """Whether the last layer wins more than half of the items of a suite."""
    last, lens = last_layer(numbers), lenses(numbers)[-1]
    overall, items = numbers("agreement", lens=lens, condition="all", space=last), numbers.words["suite"]
    parts = [
        f"{name} ({several(numbers.n('agreement', condition=name), 'item')}) "
        f"{numbers('agreement', space=last // 2, lens=lens, condition=name):%} in layer {last // 2}, "
        f"{numbers('agreement', space=last, lens=lens, condition=name):%} at the end"
        for name in numbers.result["condition"].values.tolist()
    ]
    return Finding.judged(
        above(overall, HALF, numbers.n("agreement", condition="all")),
        f"Share whose good answer is more probable than the other one (states {STATES[lens]}): {'; '.join(parts)}.",
        holds=f"Items of {items}: {overall:.0%} right in the last layer",
        fails=f"Items of {items}: no better than chance in the last layer",
        undecided=f"Items of {items}: not distinguishable from chance in the last layer",
        unit="items",
    )


def patched(numbers: Numbers) -> Finding:
    """Which heads bring the answer of one text back in the other: two texts, so that nothing is claimed."""
    pair, heads = numbers.attribute("pair"), numbers.array("restored_by_head")
    (text, against), (first, second) = pair["texts"], pair["answers"]
    return Finding(
        "One text put into another",
        f"“{first}” leads “{second}” by {numbers('text_lead')} logits after “{text}”, by {numbers('against_lead')} "
        f"after “{against}”. With the output of one head from the first text, the share of the difference that comes "
        f"back in the second is largest with {listed(strongest(heads)[:3])}. These are two texts: others may need "
        "other heads.",
    )


def examples(numbers: Numbers) -> Finding | None:
    """Right predictions that are settled last, in words."""
    texts = [
        f"“{example['before']} ___ {example['after']}” {example['answer']} (layer {example['settled']})"
        for example in numbers.attribute("examples")
    ]
    return Finding("Right predictions that are settled last", f"{'; '.join(texts)}.") if texts else None


def limits(numbers: Numbers) -> Finding:
    """What the lens cannot show, and what was left out."""
    fitted, left_out = int(numbers.words["fitted"]), numbers.attribute("suite_left_out")
    maps = f" Maps were fitted to {several(fitted, 'prediction')} of other texts, by least squares." if fitted else ""
    if why := numbers.words.get("maps_left_out"):
        maps = f" There is no mapped lens: {why}."
    if why := numbers.words.get("contributions_left_out"):
        maps += f" Direct contributions to logits do not apply: {why}."
    items = "".join(f" Items left out: {count:,} ({name})." for name, count in left_out.items() if count)
    return Finding(
        "Limits",
        "The prediction head was trained on states of the last layer. Another layer may hold a prediction in a form "
        f"that it does not read: the lens is a lower bound.{maps}{items}",
    )


def late(numbers: Numbers) -> Figure | None:
    """What each layer predicts for single gaps."""
    shown = numbers.attribute("examples")
    if not shown:
        return None
    names = [
        f"{number}. {example['before'][-CONTEXT:]} ___ {example['after'][: CONTEXT // 2]}".strip()
        for number, example in enumerate(shown, 1)
    ]
    coords = {
        "number": names,
        "layer": list(range(len(shown[0]["pieces"]))),
        "text": (("number", "layer"), [[piece[:LETTERS] for piece in example["pieces"]] for example in shown]),
        "chosen": ("number", [example["settled"] for example in shown]),
    }
    array = xr.DataArray(np.array([example["probabilities"] for example in shown]), coords, ("number", "layer"))
    caption = (
        "The piece that each layer predicts for a gap (0: embeddings), the darker the more probable in its row. "
        "Framed: the layer from which on the prediction stays. Shown are right predictions that are settled last."
    )
    return Figure("late", "Single predictions", layer_grid(array, "What each layer predicts"), caption, "settled")


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """How often each layer predicts what the last one does."""
    for lens in lenses(numbers):
        array = numbers.array("final_first", lens=lens).rename(space="layer")
        yield LayerNumber("Predictions", f"final prediction read from the layer ({lens})", array)


def by_layer(number: str, name: str, caption: str) -> Chart:
    """A curve over layers with a line for each lens."""
    dims, style = ("space", "lens"), {"dim": "space"}
    return Chart(number, "curve", "Predictions by layer", caption + SPACES, name, dims, style=style)


FIRST = "How often the head of the model predicts from a layer what it predicts from the last one. "
SETTLED = "How many predictions are settled: no layer from this one on predicts another piece. "
RANK = "Rank of the final prediction among all pieces of the vocabulary, geometric mean. "
AGREEMENT = (
    "Share of the items of {suite} whose good answer has the higher probability, by condition; lens {label}. Half is "
    "chance."
)
CLASSES = "How often it predicts the right piece of words of each class; lens {label}. "
WRITTEN, PATCHED = "What heads write", "One text put into another"
STATES_PUT = (
    "The share of the lead of the first answer that comes back in the second text with the state of the first that "
    "enters a layer, at one token; the two texts are below, with | where they differ."
)
HEADS_PUT = "The share that comes back with the output of one head at all tokens."
LAST_PUT = "The share that comes back with the output of one head at the token that predicts."
GAIN = (
    "What a head of {model_name} adds to the logit of the right piece, minus what it adds to the pieces of the texts, "
    "each as often as it is right."
)
DIRECT = "What a head adds to the logit of the right piece, minus the mean of the vocabulary."
FEED_FORWARD = "What the feed-forward part of a layer adds to the logit of the right piece, minus the same mean."
TABLE = (
    "Predictions of each layer in per cent with 95% intervals: of the right piece, of what the last layer predicts, "
    "and those that no later layer changes; geometric mean of the rank of the last layer's prediction; "
    "Kullback-Leibler divergence of the last distribution from that of the layer, in nats."
)
COLUMNS = {
    "right": ("Right", "%"),
    "final_first": ("As the last layer", "%"),
    "settled": ("Settled", "%"),
    "final_rank": ("Rank of the last", ".1f"),
    "final_divergence": ("Divergence", ".2f"),
}
PAGE = StudyParts(
    highlights=(right, writers, settling, agreement),
    findings=(patched, examples, limits),
    charts=(
        by_layer("final_first", "final-first", FIRST),
        by_layer("right", "right", "How often it predicts the right piece from a layer. "),
        by_layer("settled", "settled", SETTLED),
        by_layer("final_rank", "final-rank", RANK),
        Chart(
            *("agreement", "curve", "Items by layer", AGREEMENT),
            dims=("space", "condition"),
            per="lens",
            most={"condition": 7},
            style={"dim": "space", "reference": HALF},
        ),
        Chart(
            *("right_by_class", "curve", "Predictions by layer", CLASSES),
            dims=("space", "word_class"),
            per="lens",
            most={"word_class": 7},
            style={"dim": "space"},
        ),
        late,
        Chart(
            *("restored_by_state", "matrix", PATCHED, STATES_PUT),
            dims=("layer", "text_token"),
            title="What a state brings back",
        ),
        Chart("restored_by_head", "heatmap", PATCHED, HEADS_PUT, title="What a head brings back"),
        Chart("restored_by_last", "heatmap", PATCHED, LAST_PUT, title="What a head restores where it predicts"),
        Chart("direct_head_gain", "heatmap", WRITTEN, GAIN),
        Chart("direct_head", "heatmap", WRITTEN, DIRECT),
        Chart("direct_feed_forward", "curve", WRITTEN, FEED_FORWARD, dims=("layer",), style={"dim": "layer"}),
        Chart("write_length", "heatmap", WRITTEN, "How long the vectors are that heads write, mean over predictions."),
    ),
    tables=(
        NumberTable("predictions", TABLE, {"lens": "Lens", "space": "Layer"}, COLUMNS, {"space": {0: "embeddings"}}),
    ),
    layers=(layers,),
    kinds=(writer_kind,),
)
