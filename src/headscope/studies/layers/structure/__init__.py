"""Structure: how much of a dependency tree the hidden states of each layer hold (structural probe).

Hewitt and Manning 2019: a linear map under which squared distances between the words of a sentence are their
distances in its tree (distance probe), and squared norms their depths (depth probe); for every layer in one pass.
"""

from headscope.study import Cost, Dimension, InSurvey, Number, Study

LAYER, DECOMPOSITION, KINDS = ("layer",), ("role_scheme", "layer"), ("probe", "layer")
MCCOY = "McCoy et al. 2019; Jawahar et al. 2019, section 6"
BY_LENGTH, CORRELATION = "by sentence length (5 to 50 words)", "Spearman correlation"
MEANS = "mean over words, over sentences of equal length, then over the lengths 5 to 50"
EDGES, VARIANCE = "edges of the gold tree, without punctuation, that the predicted tree has", "share of variance"
SCORES = (
    Number("uuas", EDGES, "share of edges", LAYER, definition=f"{EDGES}; direction does not count"),
    Number("root_accuracy", "sentences whose root has the smallest predicted depth", "share of sentences", LAYER),
    Number(
        *("distance_spearman", f"rank correlation of predicted and gold distances, {BY_LENGTH}", CORRELATION, LAYER),
        definition=f"rank correlation of predicted and gold distances: {MEANS}",
    ),
    Number(
        *("norm_spearman", f"rank correlation of predicted and gold depths, {BY_LENGTH}", CORRELATION, LAYER),
        definition=f"rank correlation of predicted and gold depths: {MEANS}",
    ),
)


def family(score: Number) -> tuple[Number, ...]:
    """A score, and the numbers that stand beside it."""
    name, what, unit, of_random = score.name, score.what, score.unit, f"{score.what}, for a model with random weights"
    return (
        score,
        Number(f"{name}_baseline", f"{what}, without the context of the model", unit, ("baseline",)),
        Number(f"{name}_random", f"{of_random}, mean over seeds", unit, LAYER),
        Number(f"{name}_random_by_seed", of_random, unit, ("seed", "layer")),
        Number(f"{name}_gain", f"gain over random weights in {what}", unit, LAYER),
        Number(f"{name}_by_rank", f"{what}, by rank, on held-out training sentences", unit, ("probe_rank", "layer")),
    )


STUDY = Study(
    question="How much of a tree do the hidden states of each layer hold?",
    source="Hewitt and Manning 2019, section 3",
    survey=InSurvey("treebank", Cost(4, 0.09, after=1, untrained=True, cells=8, most=1600)),
    quick=("--train", "sample", "--train-limit", "24", "--epochs", "1", "--rank", "2,4"),
    required=("norm_spearman",),
    dims={
        "probe_rank": Dimension("rank of the maps of structural probes", "whole", 1),
        "role_scheme": Dimension(
            "places of words in a sentence by which they are bound: from the left, from the right, in the tree"
        ),
    },
    attributes={"chosen_layer": "number", "trees": "list"},
    numbers=(
        *(number for score in SCORES for number in family(score)),
        Number("held_out_uuas", f"{EDGES}, on held-out training sentences", "share of edges", LAYER),
        Number("rank", "rank of a probe", "dimensions", KINDS),
        Number("held_out_loss", "loss of a probe on held-out sentences", "edges", KINDS),
        Number(
            *("tensor_product_error", "squared error of tensor products, as a share of that of the mean", VARIANCE),
            *(DECOMPOSITION, MCCOY),
            definition="squared error of sentence vectors as sums of words bound to their places, as a share of their "
            "variance about the mean of the training sentences",
        ),
        Number("tensor_product_parameters", "parameters of a layer's tensor products", "1", ("role_scheme",), MCCOY),
        Number("tensor_product_roles", "roles of tensor products", "1", ("role_scheme",), MCCOY),
        Number(
            *("tree_roles_gain", "error with the roles of shuffled trees minus that with those of the trees", VARIANCE),
            *(LAYER, MCCOY),
        ),
    ),
)
