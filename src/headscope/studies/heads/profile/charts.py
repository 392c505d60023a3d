"""The charts of a profile, after Clark et al. (2019) and Kovaleva et al. (2019)."""

from typing import Any

from headscope.figures import by_layer
from headscope.report.declared import Chart, Part
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure
from headscope.results.vocabulary import FEATURES
from headscope.studies.heads.profile.group_parts import DISTANCES, FIGURES
from headscope.studies.heads.profile.pair_parts import clearest

GOES, NEAR, BROAD, WORDS = "Where attention goes", "Neighbouring tokens", "Broad or focused", "Features and links"
RARE, PAIRS = "Rare and frequent pieces", "The other segment"
LINGUISTIC, SPECIAL = {"feature": list(FEATURES[:6])}, {"feature": list(FEATURES[6:])}
SPOKEN = {"part_of_speech": ["NOUN", "VERB", "ADJ", "PRON", "DET", "ADP"]}
OF_UNIFORM = "As a multiple of uniform attention, which is 1"
FIFTHS = "Each class has about a fifth of the tokens"
REFERENCE = {"reference": 1.0, "reference_label": "uniform attention"}


def heads(number: str, section: str, caption: str) -> Chart:
    """A map of all heads."""
    return Chart(number, "heatmap", section, caption)


def features(number: str, words: str, special: str) -> tuple[Chart, Chart]:
    """Maps of attention to linguistic features, and to special tokens and punctuation."""
    return (
        Chart(number, "heatmap", WORDS, words, f"{number}-words", at=LINGUISTIC),
        Chart(
            number,
            "heatmap",
            WORDS,
            f"The same for special tokens and punctuation; {special}",
            f"{number}-special",
            at=SPECIAL,
        ),
    )


def beside_uniform(number: str, caption: str) -> Part:
    """A chart of entropy by layer, with a rule for uniform attention."""

    def chart(numbers: Numbers) -> Figure:
        uniform = float(numbers.result["uniform_entropy"]) if "uniform_entropy" in numbers.result else None
        picture = by_layer(numbers.array(number), reference=uniform, reference_label="uniform attention")
        return Figure(f"{number}-by_layer", BROAD, picture, caption, number)

    return chart


def dots(number: str, section: str, caption: str, **more: Any) -> Chart:
    """A dot for each head, by layer."""
    return Chart(number, "by_layer", section, caption, f"{number}-by_layer", **more)


CHARTS: tuple[Part, ...] = (
    dots(
        *("attention_to", GOES),
        "A dot for each head, a line for the layer's mean. After Clark et al. (2019), Figure 2.",
        at={"token_class": ["cls", "sep", "punct"]},
    ),
    heads("attention_to", GOES, "The same, head by head; the four shares of a head sum to 1."),
    dots("sep_to_sep", GOES, "What separators look at. After Clark et al. (2019), Figure 2, lower part."),
    dots("segment_end", GOES, "The last token that is not special, often a period. Raganato and Tiedemann (2018)."),
    Chart(
        *("sink_by_part_of_speech", "heatmap", GOES),
        "From words of six parts of speech. A head whose function does not apply to a word may look at special tokens. "
        "After Clark et al. (2019), section 3.2.",
        at=SPOKEN,
    ),
    dots(
        *("attention_offset", NEAR),
        "Heads above 0.5 attend mostly to a neighbour. Clark et al. (2019), section 3.1.",
        at={"offset": [-1, 1]},
    ),
    heads("attention_offset", NEAR, "The same, head by head, with attention of a token to itself."),
    DISTANCES,
    beside_uniform(
        "entropy", "The rule marks uniform attention, the broadest there is. After Clark et al. (2019), Figure 4."
    ),
    heads("entropy", BROAD, "Pale heads look at few tokens, dark ones at many."),
    beside_uniform("cls_entropy", "The attention of [CLS] alone. After Clark et al. (2019), Figure 4, lower part."),
    *features(
        "feature_attention",
        "Averaged over all queries. A feature with many tokens has more to take the maximum over, so compare heads "
        "within a panel. After Kovaleva et al. (2019), section 4.4.",
        "note the different scale. After Kovaleva et al. (2019), Figure 6.",
    ),
    *features(
        *("cls_feature_attention", "The paper reads the last layer. After Kovaleva et al. (2019), Figure 7."),
        "note the different scale.",
    ),
    heads("token_attention", WORDS, "The maximum over an example's pairs. After Kovaleva et al. (2019), section 4.5."),
    dots(*("frequency_attention", RARE, f"{OF_UNIFORM}. {FIFTHS}; special tokens are in none."), style=REFERENCE),
    heads(
        *("frequency_correlation", RARE),
        "Below 0 a head looks at rare pieces, above 0 at frequent ones, whatever it gives special tokens.",
    ),
    dots(
        *("predicted_attention", RARE, f"{OF_UNIFORM}, by how often the model predicts the piece. {FIFTHS}."),
        style=REFERENCE,
    ),
    heads(
        *("predicted_correlation", RARE),
        "Below 0 a head looks at pieces that the model seldom predicts, above 0 at those that it often predicts, "
        "whatever it gives special tokens.",
    ),
    heads(
        *("same_word", PAIRS),
        "A word and its copy in the other segment; other words at the same distance; other words and the same copy. "
        "After Kovaleva et al. (2019), section 5.",
    ),
    dots("segment_attention", PAIRS, "Between tokens of words; the rest goes to special tokens."),
    *FIGURES,
    clearest,
)
