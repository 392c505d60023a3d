"""Compare models head by head: similarity of attention, and change of each measure.

Kovaleva et al. 2019, section 4.3 (Figure 5): a model before and after fine-tuning. Also epochs or seeds of one model.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Dimension, Kind, Number, Study

LAYERS, RESTORED = ("model", "layer"), ("model", "restored", "metric")
HEADS = (*LAYERS, "head")
HAO = "after Hao et al. 2019; A Primer in BERTology (Rogers et al. 2020), section 5"
SCORE, WEIGHTS = (
    "score of the task with the lowest layers as in the first model",
    "after Kovaleva et al. 2019, section 4.3",
)
PADDED = "cosine similarity of attention padded to 200 tokens with that of the first model"
CHANGED_WEIGHTS = "norm of the difference of a layer's weights, divided by the norm of the first model's"


def comparison(name: str, what: str, unit: str, source: str) -> tuple[Number, Number]:
    """A comparison of two models' attention, of each head and as the mean over the heads of a layer."""
    mean = Number(f"layer_{name}", f"mean over heads of {what}", unit, LAYERS, source)
    return Number(name, what, unit, HEADS, source), mean


STUDY = Study(
    question="What did fine-tuning change?",
    page="how-to/fine-tune.md",
    source="Kovaleva et al. 2019, section 4.3",
    attention=True,
    survey="a second model: headscope compare MODEL OTHER --corpus CORPUS",
    example="headscope compare minilm out/tuned/model --corpus sample -o out/compared",
    kinds=(
        Kind(
            *(110, "changed", "#762a83"),
            "attends clearly otherwise than in the first model: cosine similarity below 0.9, beyond chance",
        ),
    ),
    required=("layer_similarity",),
    dims={
        "model": Dimension("model that is compared with the first"),
        "restored": Dimension("number of lower layers with the weights of the first model", "whole"),
    },
    attributes=dict.fromkeys(("compared", "compared_capture", "compared_sha256"), "object"),
    numbers=(
        *comparison(
            "similarity",
            "cosine similarity of attention with that of the first model",
            *("cosine", "Kovaleva et al. 2019, section 4.3"),
        ),
        *comparison("padded_similarity", PADDED, "cosine", "Kovaleva et al. 2019, section 4.3, as coded"),
        *comparison(
            "js_divergence",
            "Jensen-Shannon divergence of attention from that of the first model",
            *("nats", "after Clark et al. 2019, section 6, between models instead of heads"),
        ),
        Number(
            "difference_*", "change since the first model of each measure of `profile`", "that of the measure", HEADS
        ),
        *COVERAGE,
        Number(
            *("weight_change", "change of a layer's weights, as a share of their length", "share of the norm", LAYERS),
            *(WEIGHTS, CHANGED_WEIGHTS),
        ),
        Number(
            *("change_per_weight", "change of attention (1 - cosine) by the change of weights", "ratio", LAYERS),
            *(WEIGHTS, "(1 - `layer_similarity`) / `weight_change`: change of attention by change of weights"),
        ),
        Number("restored_score", SCORE, "score", RESTORED, HAO),
        Number("restored_change", f"change of the {SCORE}", "score", RESTORED, HAO),
    ),
)
