"""What the page says first: what the saved model loses, how fast and how large it is, and what is gone."""

import math
from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures.labels import label
from headscope.report import shared_findings
from headscope.report.claims import Claim, no_worse
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import examples, layers_named, measured, number, sentence_case
from headscope.studies.size.shrink.figures import REMOVED, facts

AGREES = " Labels are the whole model's own answers, right or wrong."


def unlearned(numbers: Numbers) -> Finding | None:
    """The finding that the whole model has not learned the task, or gives one answer to all; None for no such task."""
    lacks = shared_findings.unlearned(numbers.result)
    if lacks is None or "pseudo_labels" not in facts(numbers):
        return lacks
    metric = {"metric": numbers.main_metric}
    text = (
        f"The whole model agrees with itself by {numbers('whole_score', **metric)}, always the same answer by "
        f"{number(numbers('chance', **metric).value)}: on these texts a model that always gives the same "
        "answer looks good. Add texts with other answers."
    )
    return Finding("Too many of the answers are the same", text)


def lost(numbers: Numbers) -> Finding:
    """The test that no more than the tolerance is lost, on held-out examples."""
    if lacks := unlearned(numbers):
        return lacks
    before, after = facts(numbers)["megabytes"]
    if after >= before:
        text = "No part could go: the saved model is the whole one, and nothing is known about a smaller one."
        return Finding("Nothing was removed", text)
    if measured(numbers.result, "shrunk_gain") is None:
        return Finding("What is lost is not known", "The held-out examples are too few to score the saved model.")
    return kept_within(numbers, "shrunk", "The smaller model")


def kept_within(numbers: Numbers, form: str, subject: str) -> Finding:
    """The test that a form of the saved model, such as "eight_bit", loses less than the tolerance."""
    metric, limit = numbers.main_metric, number(facts(numbers)["tolerance"])
    name, score, gain = label("metric", metric), numbers(f"{form}_score", metric=metric), numbers(f"{form}_gain")
    text = f"{sentence_case(name)} on held-out texts: {score}, a change of {gain} from the whole model."
    agrees = AGREES if "pseudo_labels" in facts(numbers) else ""
    return Finding.judged(
        _claim(numbers, form),
        f"{text}{agrees}{examples(numbers.array(f'{form}_gain'))}",
        holds=f"{subject} loses less than {limit} of {name}",
        fails=f"{subject} loses {limit} of {name} or more",
        undecided=f"{subject} may lose {limit} of {name} or more",
        unit="test examples",
    )


def _claim(numbers: Numbers, form: str) -> Claim:
    return no_worse(numbers(f"{form}_gain"), facts(numbers)["tolerance"], numbers.n(f"{form}_gain"))


def words(numbers: Numbers) -> Finding:
    """What becomes of the loss of words, and of perplexity."""
    loss, perplexity = (
        [numbers(f"{name}_words", words_metric=metric) for name in ("whole", "shrunk")]
        for metric in ("loss", "perplexity")
    )
    change = numbers("words_change", words_metric="loss")
    text = f"The loss of a token was {loss[0]} nats and is {loss[1]}, a change of {change}."
    topic = f"Perplexity was {number(perplexity[0].value)} and is {number(perplexity[1].value)}"
    return Finding(topic, text + examples(numbers.array("words_change")))


def no_claim(result: xr.Dataset) -> Finding:
    """The loss, which comes first whether or not the test of the tolerance holds."""
    return lost(Numbers(result))


def smaller(numbers: Numbers) -> Finding:
    """How many times as fast the saved model is, by rounds, and its parameters; the table of forms has the rest."""
    saved, (before, after) = facts(numbers), facts(numbers)["parameters"]
    fast, least, most = (number(times, ".2f") for times in saved["times_as_fast"])
    text = f"Between rounds {least} to {most} times as fast; {before:,} parameters became {after:,}."
    text += f" {saved['busy']}" if saved["busy"] else ""
    text += "" if saved["reached"] else f" The target, {saved['target']}, is not reached."
    return Finding(f"The model is {fast} times as fast and has {after / before:.0%} of the parameters", text)


def next_step(numbers: Numbers) -> Finding | None:
    """What keeps the tolerance where the saved model is not shown to: a tested size, more texts, more epochs."""
    saved, limit = facts(numbers), number(facts(numbers)["tolerance"])
    if (
        unlearned(numbers)
        or measured(numbers.result, "shrunk_gain") is None
        or _claim(numbers, "shrunk").verdict == "holds"
    ):
        return None
    text = f"More texts than {saved['examples']:,} and more --epochs than {saved['epochs']} usually lose less."
    if not (larger := _sizes_within(numbers)):
        return Finding("Next: more texts, more epochs", f"No smaller size keeps within {limit} before training. {text}")
    size = f"--size {math.ceil(100 * larger[-1] / saved['megabytes'][0])}%"
    # Without a target a BERT loses parts that it does not lose with one.
    size += f" --parts {saved['parts']}" if "embeddings" in saved["parts"] else ""
    kept = f"the model of {larger[-1]:.3g} MB keeps within {limit} before training"
    return Finding(f"Next: {size}", f"On these held-out texts {kept}. {text}")


def _sizes_within(numbers: Numbers) -> list[float]:
    """Megabytes of the steps that lose less than the tolerance beyond chance and are larger than the saved model."""
    sizes, saved = numbers.result["megabytes"].values, facts(numbers)["megabytes"][1]
    least = max(float(numbers("needed_share").upper) * sizes[0], saved)
    return [size for size in sizes[1:].tolist() if size >= least and size > 1.001 * saved]


def removed(numbers: Numbers) -> Finding:
    """Which parts are gone, and how the rest is loaded."""
    saved, layers = facts(numbers), removed_layers(numbers)
    where = " of all layers" if "fine" in saved else " of each layer"
    kinds = {
        "neurons": f"neurons{where}",
        "heads": f"heads{where}",
        "pieces": "pieces of the vocabulary",
        "embedding_width": "numbers of each embedding",
    }
    sizes = {name: saved.get(name, (0, 0)) for name in kinds}
    words = [
        *([f"{layers_named(layers)} of {saved['layers'][0]}"] if layers else []),
        *sublayers(numbers, layers),
        *(
            f"{sizes[name][0] - sizes[name][1]:,} of {sizes[name][0]:,} {what}"
            for name, what in kinds.items()
            if sizes[name][0] > sizes[name][1]
        ),
    ]
    text = f"Removed: {'; '.join(words)}. {rest(saved)}{cache(numbers)}"
    return Finding(REMOVED, text if words else "Nothing was removed: the target is met without.")


def cache(numbers: Numbers) -> str:
    """What a decoder keeps of each token, before and after; "" where that stays."""
    if "cache" not in numbers.result:
        return ""
    sizes = numbers.result["cache"].values
    return f" Keys and values of a token take {sizes[-1]:,} bytes, not {sizes[0]:,}." if sizes[-1] < sizes[0] else ""


def removed_layers(numbers: Numbers) -> list[int]:
    """The layers that are gone, from 1."""
    if "fine" in facts(numbers):
        return list(facts(numbers)["fine"]["removed_layers"])
    return emptied(numbers, "layer_heads")


def emptied(numbers: Numbers, name: str) -> list[int]:
    """The layers that have lost all of their heads or neurons."""
    left = numbers.result[name].isel(step=-1)
    return [int(layer) for layer in left["layer"].values[left.values == 0]]


def sublayers(numbers: Numbers, removed: list[int]) -> Iterator[str]:
    """Which layers have lost their attention or their feed-forward part alone; nothing of an ordinary model."""
    for name, words in (("layer_heads", "attention"), ("layer_neurons", "feed-forward part")):
        alone = [layer for layer in emptied(numbers, name) if layer not in removed]
        if "fine" in facts(numbers) and alone and numbers.result[name].values.any():
            yield f"the {words} of {layers_named(alone)}"


def rest(saved: dict[str, Any]) -> str:
    """How what stays is loaded, and as which class if that is another one than before."""
    before, after = saved.get("model_class", ("", ""))
    if "fine" in saved:
        named = f", an {after}," if after != before else ""
        return f"Layers differ, so that other programs load the rest{named} by the code in its folder."
    if after == before:
        return "The rest is an ordinary model of its class."
    return f"The rest is an ordinary {after}: Auto classes load it, and a program that names {before} does not."
