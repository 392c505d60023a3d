"""Profile every head: where its attention goes, how far, how widely it spreads, and which words it looks at.

Clark et al. 2019, section 3, and Kovaleva et al. 2019, sections 4.4 and 4.5, in one pass over the corpus.
"""

from headscope.common_numbers import COVERAGE
from headscope.measures import FREQUENCY, PREDICTED, SMALL, SURFACE
from headscope.study import Cost, Dimension, InSurvey, Kind, Number, Study

CLASSES, CORPUS = ("frequency",), "the corpus, as the tokenizer divides it"
LETTERS, WORD_CLASSES = ("layer", "head", "piece"), ("layer", "head", "word_class")
PAIRS = ("layer", "head", "from_piece", "piece")
TIMES = "times uniform attention"
PIECES = "how often a piece occurs in the corpus, or is predicted, in classes of about as many tokens"
STUDY = Study(
    question="Where does attention go, and how widely does it spread?",
    page="how-to/profile.md",
    source="Clark et al. 2019, section 3; Kovaleva et al. 2019, sections 4.4 and 4.5",
    attention=True,
    survey=InSurvey("text", Cost(1, 0.03)),
    kinds=(
        Kind(
            *(50, "same_word", "#7f5539"),
            "looks at the same word in the other segment of a pair, 0.1 more than both baselines",
            "same word",
        ),
        Kind(
            *(51, "rare", "#4d4dff"),
            "gives a token more attention the rarer its piece is: a rank correlation of -0.4 or less",
            "rare words",
        ),
        Kind(66, "end", "#6b6b00", "gives the last token of a segment 0.4 of its attention or more"),
    ),
    required=("token_attention",),
    dims={
        "frequency": Dimension(PIECES),
        "from_query": Dimension("distance from the query to the key, in tokens", "whole", -8, 8),
        "piece": Dimension("piece of a vocabulary of at most 64, such as an amino acid"),
        "from_piece": Dimension("piece of a token that attends"),
    },
    measures=(*SURFACE, *SMALL, *FREQUENCY, *PREDICTED),
    numbers=(
        *COVERAGE,
        Number("piece_attention", "attention to each piece, from tokens of texts", "share of attention", LETTERS),
        Number("piece_multiple", "attention to each piece, over its share of uniform attention", TIMES, LETTERS),
        Number(
            *("piece_pair_attention", "attention from tokens of a piece to each piece", "share of attention", PAIRS),
            definition="attention from a token of `from_piece` to all of `piece`, mean over the tokens that see one",
        ),
        Number(
            *("piece_pair_multiple", "attention from tokens of a piece to each piece, over its share", TIMES, PAIRS),
            definition="the same over the piece's share of the tokens that the token sees (in a causal model of itself "
            "and those before it), mean over these tokens",
        ),
        Number("word_class_attention", "attention to each class of words", "share of attention", WORD_CLASSES),
        Number("word_class_multiple", "attention to each class of words, over its share", TIMES, WORD_CLASSES),
        Number("frequency_share", "share of the counted tokens in each class of frequency", "share", CLASSES, CORPUS),
        Number("frequency_least", "smallest count of a piece in each class of frequency", "tokens", CLASSES, CORPUS),
        Number("predicted_share", "share of the counted tokens in each class of predictions", "share", CLASSES, CORPUS),
        Number("predicted_least", "fewest predictions of a piece in each class", "predictions", CLASSES, CORPUS),
    ),
)
