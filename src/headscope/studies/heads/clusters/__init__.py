"""Similarity of heads: divergences between all pairs of heads, heads as points of a plane, and clusters of them.

Clark et al. 2019, section 6 (Figure 6).
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Cost, Dimension, InSurvey, Number, Study

HEADS = ("layer", "head")
DIVERGENCE = "Jensen-Shannon divergence of attention"
DEFINITION = (
    "Jensen-Shannon divergence of two heads' attention, H((p + q) / 2) - (H(p) + H(q)) / 2 for each query: mean over "
    "the tokens of an example, then over examples; 0 for heads that attend in the same way, ln 2 = 0.69 for heads "
    "without a token in common"
)
STUDY = Study(
    question="Which heads are similar?",
    source="Clark et al. 2019, section 6",
    attention=True,
    # It has the batches of other studies there, so that it can share their pass.
    survey=InSurvey("text", Cost(1, 0.15, 0.1), options=("--batch-tokens", "2048")),
    # The paper has about 1,000 segments. All maps of a batch are held until their pairs are done.
    options={"limit": 1000, "batch_tokens": 512},
    required=("divergence",),
    measures=("attention_to", "attention_offset", "entropy"),
    dims={"axis": Dimension("axis of an embedding", "whole", 1)},
    coords={"behaviour": ("U", HEADS), "best_relation": ("U", HEADS), "cluster": ("i", HEADS)},
    numbers=(
        Number(
            *("divergence", f"{DIVERGENCE} of two heads", "nats", (*HEADS, "other_layer", "other_head")),
            definition=DEFINITION,
        ),
        Number("layer_divergence", f"mean {DIVERGENCE} of heads of two layers", "nats", ("layer", "other_layer")),
        Number("within_layer", "mean divergence of two heads of the same layer", "nats"),
        Number("between_layers", "mean divergence of two heads of different layers", "nats"),
        Number("layer_gap", "mean divergence between layers minus that within layers", "nats"),
        Number(
            *("layer_gap_p_value", "share of random layers with as large a gap", "rate"),
            definition="share of 999 random assignments of heads to layers with an equal or larger gap (one-sided)",
        ),
        Number("position", "heads as points, by metric multidimensional scaling", "nats", (*HEADS, "axis")),
        Number(
            *("stress", "stress 1 of these points: 0 is a perfect fit", "share"),
            definition="Kruskal's stress 1 of these points: 0 is a perfect fit",
        ),
        Number(
            *("cluster_stability", "agreement of clusters of resampled examples", "adjusted Rand index"),
            definition="agreement of the clusters with those of 100 bootstrap resamples of the examples",
        ),
        *COVERAGE,
    ),
)
