"""Figures of a profile, after Clark et al. (2019) and Kovaleva et al. (2019)."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import xarray as xr

from headscope.figures import by_layer, heatmap, with_interval
from headscope.report.parts import Figure
from headscope.results.vocabulary import FEATURES

GOES, NEAR, BROAD, WORDS = "Where attention goes", "Neighbouring tokens", "Broad or focused", "Features and links"
SPOKEN = ("NOUN", "VERB", "ADJ", "PRON", "DET", "ADP")
PAIRS = "The other segment"
RARE = "Rare and frequent pieces"
LINGUISTIC, SPECIAL = FEATURES[:6], FEATURES[6:]
CAPTIONS = {
    "attention_to-by_layer": "A dot for each head, a line for the layer's mean. After Clark et al. (2019), Figure 2.",
    "attention_to": "The same, head by head; the four shares of a head sum to 1.",
    "sep_to_sep-by_layer": "What separators look at. After Clark et al. (2019), Figure 2, lower part.",
    "segment_end-by_layer": "The last token that is not special, often a period. Raganato and Tiedemann (2018).",
    "sink_by_part_of_speech": "From words of six parts of speech. A head whose function does not apply to a word may "
    "look at special tokens. After Clark et al. (2019), section 3.2.",
    "attention_offset-by_layer": "Heads above 0.5 attend mostly to a neighbour. Clark et al. (2019), section 3.1.",
    "attention_offset": "The same, head by head, with attention of a token to itself.",
    "entropy-by_layer": "The rule marks uniform attention, the broadest there is. After Clark et al. (2019), Figure 4.",
    "entropy": "Pale heads look at few tokens, dark ones at many.",
    "cls_entropy-by_layer": "The attention of [CLS] alone. After Clark et al. (2019), Figure 4, lower part.",
    "feature_attention-words": "Averaged over all queries. A feature with many tokens has more to take the maximum "
    "over, so compare heads within a panel. After Kovaleva et al. (2019), section 4.4.",
    "feature_attention-special": "The same for special tokens and punctuation; mind the other scale. "
    "After Kovaleva et al. (2019), Figure 6.",
    "cls_feature_attention-special": "The same for special tokens and punctuation; mind the other scale.",
    "cls_feature_attention-words": "The paper reads the last layer. After Kovaleva et al. (2019), Figure 7.",
    "token_attention": "The maximum over an example's pairs. After Kovaleva et al. (2019), section 4.5.",
    "same_word": "A word and its copy in the other segment; other words as far apart; other words and the same copy. "
    "After Kovaleva et al. (2019), section 5.",
    "frequency_attention-by_layer": "As a multiple of uniform attention, which is 1. Each class has about a fifth of "
    "the tokens; special tokens, '.' and ',' are in none.",
    "frequency_correlation": "Below 0 a head looks at rare pieces, above 0 at frequent ones, whatever it gives special "
    "tokens.",
    "predicted_attention-by_layer": "As a multiple of uniform attention, which is 1, by how often the model predicts "
    "the piece. Each class has about a fifth of the tokens.",
    "predicted_correlation": "Below 0 a head looks at pieces that the model seldom predicts, above 0 at those that it "
    "often does, whatever it gives special tokens.",
    "segment_attention-by_layer": "Between tokens of words; what is missing to 1 goes to special tokens.",
}


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a profile, without those whose values are all missing."""
    return [
        Figure(name, section, draw(array), CAPTIONS[name], str(array.name))
        for name, section, array, draw in _plan(result)
        if not bool(array.isnull().all())
    ]


def _plan(result: xr.Dataset) -> Iterator[tuple[str, str, xr.DataArray, Callable[[xr.DataArray], Any]]]:
    """Each figure's name, section, array and chart, in the order of the page."""
    array = {name: with_interval(result, str(name)) for name in result.data_vars if not str(name).endswith("_ci")}
    uniform = float(array["uniform_entropy"]) if "uniform_entropy" in array else None
    layers = partial(by_layer, reference=uniform, reference_label="uniform attention")
    yield "attention_to-by_layer", GOES, array["attention_to"].sel(token_class=["cls", "sep", "punct"]), by_layer
    yield "attention_to", GOES, array["attention_to"], heatmap
    yield "sep_to_sep-by_layer", GOES, array["sep_to_sep"], by_layer
    if "segment_end" in array:
        yield "segment_end-by_layer", GOES, array["segment_end"], by_layer
        by_speech = array["sink_by_part_of_speech"]
        yield "sink_by_part_of_speech", GOES, by_speech.sel(part_of_speech=list(SPOKEN)), heatmap
    yield "attention_offset-by_layer", NEAR, array["attention_offset"].sel(offset=[-1, 1]), by_layer
    yield "attention_offset", NEAR, array["attention_offset"], heatmap
    yield "entropy-by_layer", BROAD, array["entropy"], layers
    yield "entropy", BROAD, array["entropy"], heatmap
    yield "cls_entropy-by_layer", BROAD, array["cls_entropy"], layers
    for name in ("feature_attention", "cls_feature_attention"):
        yield f"{name}-words", WORDS, array[name].sel(feature=list(LINGUISTIC)), heatmap
        yield f"{name}-special", WORDS, array[name].sel(feature=list(SPECIAL)), heatmap
    yield "token_attention", WORDS, array["token_attention"], heatmap
    for of in ("frequency", "predicted"):
        if f"{of}_attention" in array:
            multiples = partial(by_layer, reference=1.0, reference_label="uniform attention")
            yield f"{of}_attention-by_layer", RARE, array[f"{of}_attention"], multiples
            yield f"{of}_correlation", RARE, array[f"{of}_correlation"], heatmap
    if "same_word" in array:
        yield "same_word", PAIRS, array["same_word"], heatmap
        yield "segment_attention-by_layer", PAIRS, array["segment_attention"], by_layer
