"""Trees read off attention alone: dependencies by spanning trees, phrases by the distances of neighbouring words.

Raganato and Tiedemann 2018; Htut et al. 2019; Kim et al. 2020. Nothing is trained.
"""

from collections.abc import Iterator

from headscope.common_numbers import places
from headscope.study import Cost, Dimension, InSurvey, Number, Study

SHARE, PHRASES = "share of words", "Kim et al. 2020, section 3"
TREE_DIMS, CHOSEN_DIMS = ("direction", "special_tokens", "root"), ("metric", "special_tokens", "root")
HEAD, PHRASE_DIMS = ("layer", "head"), ("distance", "special_tokens")
F1, BEST = "F1 of the phrases of a sentence", "the head that is best on one half"
RANDOM = "the best head with random weights"
SIMPLE = (
    "score, on the other half, of right-branching and left-branching trees, and of the fixed word that is best on one "
    "half: at an offset, or at a position from either end, up to 10"
)
RANDOM_SCORE = (
    "score, on the other half, of the best head of the same model with random weights, mean over three seeds; "
    "`--no-random` leaves it out"
)
NO_ROOT = "share of words, without root and punctuation, that get their syntactic head; none for undirected trees"


def by_unit(
    name: str, what: str, unit: str, dims: tuple[str, ...], source: str | None = None, definition: str = ""
) -> Iterator[Number]:
    """A number of the trees of heads, of layers and of the model."""
    for prefix, words, beside in (("", "of a head", HEAD), ("layer_", "of a layer's mean", ("layer",))):
        yield Number(f"{prefix}{name}", f"{what}, in the tree {words}", unit, beside + dims, source, definition)
        definition = ""
    yield Number(f"model_{name}", f"{what}, in the tree of all heads' mean", unit, dims, source)


STUDY = Study(
    question="Are there whole trees in the attention of a head?",
    source="Raganato and Tiedemann 2018, section 4.3; Htut et al. 2019, section 4.2",
    attention=True,
    survey=InSurvey("treebank", Cost(4, 0.55, untrained=True)),
    required=("layer_uas",),
    dims={
        "special_tokens": Dimension("whether trees have special tokens as nodes (kept), or words alone (left_out)"),
        "root": Dimension("root of a tree: the gold root, the best root, or none (undirected)"),
        "distance": Dimension("distance between the attention of two neighbouring words"),
    },
    attributes={"n_sentences": "number"},
    numbers=(
        *by_unit(
            "uas",
            "words, without root and punctuation, that get their syntactic head",
            *(SHARE, TREE_DIMS),
            definition=NO_ROOT,
        ),
        *by_unit(
            "uuas", "words, without root and punctuation, that are linked with their syntactic head", SHARE, TREE_DIMS
        ),
        *by_unit("root_accuracy", "sentences whose best tree has the gold root", "share of sentences", TREE_DIMS[:2]),
        *places(BEST, *CHOSEN_DIMS),
        Number("chosen_direction", "direction in which that head is best", "direction", CHOSEN_DIMS),
        Number("chosen_score", "score of the chosen head, on the other half", SHARE, CHOSEN_DIMS),
        Number(
            "chosen_gain", "gain of the chosen head over the best fixed word, on the other half", SHARE, CHOSEN_DIMS
        ),
        Number("random_score", f"score of {RANDOM}, mean over seeds", SHARE, CHOSEN_DIMS, definition=RANDOM_SCORE),
        Number("random_score_by_seed", f"score of {RANDOM}, by seed", SHARE, (*CHOSEN_DIMS, "seed")),
        Number(
            "baseline_score",
            "score of a tree that needs no model, on the other half",
            *(SHARE, ("metric", "baseline")),
            definition=SIMPLE,
        ),
        *by_unit(
            "f1",
            F1,
            "F1",
            PHRASE_DIMS,
            PHRASES,
            f"{F1} that is split where the attention of neighbouring words is furthest apart",
        ),
        Number("baseline_f1", f"{F1}, in a tree that needs no model", "F1", ("baseline",), PHRASES),
        Number("chosen_f1_layer", f"layer of {BEST}", "layer", PHRASE_DIMS, PHRASES),
        Number("chosen_f1_head", f"number in its layer of {BEST}", "head", PHRASE_DIMS, PHRASES),
        Number("chosen_f1", f"{F1}, of the chosen head on the other half", "F1", PHRASE_DIMS, PHRASES),
        Number(
            "gain_f1", "gain of the chosen head over right-branching, on the other half", "F1", PHRASE_DIMS, PHRASES
        ),
        Number("random_f1", f"{F1}, of {RANDOM}, mean over seeds", "F1", PHRASE_DIMS, PHRASES),
        Number("random_f1_by_seed", f"{F1}, of {RANDOM}, by seed", "F1", (*PHRASE_DIMS, "seed"), PHRASES),
    ),
)
