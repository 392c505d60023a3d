"""Follow a training step by step: when each head changes, by how much, and in which order.

Kovaleva et al. 2019, section 4.3, compare a model before and after fine-tuning; this shows what lies between.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Dimension, Number, Study

HEADS, LAYERS = ("step", "layer", "head"), ("step", "layer")
COSINE, NORM, STEPS = "cosine similarity", "share of the norm", "share of the steps"
WATCHED = "headscope.Watch, of a batch of the training"
# The corpus of a film whose steps each read the next batch of the training.
TRAINING = "batches of the training"
STUDY = Study(
    question="When did each head change?",
    source="after Kovaleva et al. 2019, section 4.3",
    attention=True,
    survey="the steps of a training: headscope film DIR --corpus CORPUS",
    example="headscope film out/tuned --corpus sample -o out/film",
    required=("step_entropy",),
    dims={
        "tenth": Dimension("tenth of a text, from 1 at its beginning", "whole", 1, 10),
        "main_number": Dimension("main number of heads in another study, by that study and its name there"),
        "layer_number": Dimension("number of layers in another study, by that study and its name there"),
    },
    coords={"number_unit": ("U", ("main_number",)), "typical_step": ("i", ("typical_input",))},
    numbers=(
        Number("step_similarity", "cosine of attention and that of the start", COSINE, HEADS),
        Number(
            "step_layer_similarity", "mean over heads of the cosine of attention and that of the start", COSINE, LAYERS
        ),
        Number(
            *("step_attention_to", "attention to each class of token at each step", "share of attention"),
            (*HEADS, "token_class"),
        ),
        Number(
            *("step_attention_offset", "attention to the previous, the same and the next token at each step"),
            *("share of attention", (*HEADS, "offset")),
        ),
        Number("step_entropy", "entropy of the attention of a token at each step", "nats", HEADS),
        Number(
            *("step_largest", "largest score before the softmax at each step", "score", HEADS, WATCHED),
            definition="largest score of a query and a key before the softmax at each step, which QK clipping bounds",
        ),
        Number(
            *("step_sink", "attention that the most attended token of a text receives at each step"),
            *("share of attention", HEADS, WATCHED),
            definition="share of a text's attention that its most attended token receives; the mean over texts",
        ),
        Number(
            *("step_received", "attention that each tenth of a text receives at each step", "share of attention"),
            *((*HEADS, "tenth"), WATCHED),
            definition="share of attention that the tokens in each tenth of a text receive; the mean over texts",
        ),
        Number("step_weight_change", "change of a layer's weights, as a share of their norm", NORM, LAYERS),
        Number(
            *("step_head_weight_change", "change of a head's weights, as a share of their length", NORM, HEADS),
            definition="as step_weight_change, of a head's rows and columns of the query, key, value and output "
            "weights, without biases",
        ),
        Number("step_score", "score at each step", "score", ("step", "metric")),
        Number(
            *("step_number", "main number of a study at each step", "unit of the number", ("main_number", *HEADS)),
            definition="of `--studies`: the main numbers of heads of each study, with its interval; of a number with "
            "further dimensions, the largest value of each head; the coordinate number_unit has the units",
        ),
        Number(
            *("step_layer_number", "number of layers in a study at each step", "unit of the number"),
            ("layer_number", *LAYERS),
        ),
        Number(
            *("half_change", "when a layer had made half of its change", STEPS, ("layer",)),
            definition="share of the steps after which 1 minus step_layer_similarity first reached half of its last "
            "value, interpolated between steps",
        ),
        Number(
            *("half_change_of_head", "when a head had made half of its change", STEPS, ("layer", "head")),
            definition="as half_change, of 1 minus step_similarity",
        ),
        Number(
            *("order_of_layers", "correlation of a layer's number with when it changed", "correlation"),
            definition="Pearson's correlation of the number of a layer with its half_change, below 0 where upper "
            "layers change earlier; its interval is over examples, and the page adds that over layers (Fisher's z)",
        ),
        *COVERAGE,
    ),
)
