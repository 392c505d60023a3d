"""Importance of input tokens by twelve methods, from attention to gradients, all scored by one faithfulness test.

Kobayashi et al. 2020 and 2021; Abnar and Zuidema 2020; Mohebbi et al. 2023; Sundararajan et al. 2017;
DeYoung et al. 2020.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Cost, Dimension, InSurvey, Number, Study

# The methods, in words.
METHODS = {
    "attention": "attention",
    "norm": "norm",
    "norm_residual": "norm with residual",
    "value_zeroing": "value zeroing",
    "rollout": "rollout",
    "norm_rollout": "norm rollout",
    "value_zeroing_rollout": "value zeroing rollout",
    "flow": "flow",
    "gradient_attention": "gradient × attention",
    "value_gradient": "value × gradient",
    "gradient_input": "input × gradient",
    "integrated_gradients": "integrated gradients",
}
SHARE, UNITS, SPEARMAN = "share of importance", "difference of the target", "Spearman correlation"
BY_LAYER, OF_METHODS = ("attribution", "layer"), ("attribution",)
BY_CLASS, BY_SHARE, SHARES = ("attribution", "layer", "token_class"), (*BY_LAYER, "token_share"), ("token_share",)
HEADS, OF_CLASSES = ("layer", "head"), ("layer", "head", "token_class")
LAYERS, ALTERED, ERASED = ("alteration", "layer"), ("alteration",), ("erased_share",)
RANDOM = "in random order"
FALL = "fall of the target without the most important tokens, averaged over shares of tokens"
FALL_ALONE = "fall of the target with the most important tokens alone, averaged over shares of tokens"
WITHOUT = "target without the most important share of tokens"
WITH = "target with the most important share of tokens alone"
CHOSEN = "of the layer chosen on one half of the scored inputs, on the other half"
BLANK_OUT = "rank correlation of importance with blank-out, over the tokens of an input"
LEAD = (
    "comprehensiveness of the method that is best on one half of the scored inputs, minus that of this one, on the "
    "other half"
)
KOBAYASHI, BRUNNER = "Kobayashi et al. 2020, section 2", "Brunner et al. 2020, section 3"
JAIN = "Jain and Wallace 2019, section 4; Serrano and Smith 2019, section 3"
OUTPUT, DECISION = "change of the output", "share of inputs with another decision"
DIVERGENCE, OTHER = "Jensen-Shannon divergence from the model's own attention", "another attention with the same output"
NORM = "share of the lengths of what a head moves, |a f(x)|, that comes from each class of token"
SHARE_OF_ROW = "share of the squared length of a row of attention outside of the null space"
CORRELATION = "correlation of attention with its part outside of the null space"
WIDE = "in inputs with more tokens than a head has dimensions"
ERASING = "without the largest weights, minus that without as many random ones"
STUDY = Study(
    question="Which tokens does the model use, and which method says so best?",
    source="DeYoung et al. 2020, section 4; Abnar and Zuidema 2020, section 4",
    survey=InSurvey("text", Cost(10, 0, scored=50)),
    options={"batch_tokens": 1024},  # one layer's maps of a batch, with their gradients, are in memory
    quick=("--scored", "4", "--flow", "2", "--shown", "1", "--altered", "2"),
    required=("importance_share",),
    dims={
        "attribution": Dimension("method that says how important the tokens of an input are"),
        "token_share": Dimension("share of an input's tokens that is blanked, or kept alone", "share"),
        "alteration": Dimension("how attention is altered"),
        "erased_share": Dimension("share of the keys of each query whose attention is erased", "share"),
    },
    numbers=(
        Number(
            *("comprehensiveness", FALL, UNITS, BY_LAYER),
            definition="fall of the target without the most important tokens, averaged over 10, 20, 30, 50 and 70% of "
            "the tokens: high is good",
        ),
        Number("comprehensiveness_random", f"{FALL}, {RANDOM}", UNITS),
        Number("comprehensiveness_gain", f"{FALL}, minus that {RANDOM}", UNITS, BY_LAYER),
        Number(
            *("sufficiency", FALL_ALONE, UNITS, BY_LAYER),
            definition="fall of the target with the most important tokens alone, averaged over the same shares: low is "
            "good",
        ),
        Number("sufficiency_random", f"{FALL_ALONE}, {RANDOM}", UNITS),
        Number("sufficiency_gain", f"{FALL_ALONE}, subtracted from that {RANDOM}", UNITS, BY_LAYER),
        Number(
            *("rank_correlation", BLANK_OUT, SPEARMAN, BY_LAYER),
            definition="Spearman's correlation, over the tokens of an input, of importance with blank-out, the fall of "
            "the target without each single token",
        ),
        Number("deletion", WITHOUT, "target", BY_SHARE),
        Number("deletion_random", f"{WITHOUT}, {RANDOM}", "target", SHARES),
        Number("insertion", WITH, "target", BY_SHARE),
        Number("insertion_random", f"{WITH}, {RANDOM}", "target", SHARES),
        Number(
            *("best_layer", "layer with the largest comprehensiveness on one half of the scored inputs", "layer"),
            OF_METHODS,
        ),
        Number("chosen_comprehensiveness", f"comprehensiveness {CHOSEN}", UNITS, OF_METHODS),
        Number("chosen_comprehensiveness_gain", f"comprehensiveness minus that {RANDOM}, {CHOSEN}", UNITS, OF_METHODS),
        Number("chosen_sufficiency", f"sufficiency {CHOSEN}", UNITS, OF_METHODS),
        Number("chosen_sufficiency_gain", f"sufficiency, subtracted from that {RANDOM}, {CHOSEN}", UNITS, OF_METHODS),
        Number("chosen_rank_correlation", f"rank correlation with blank-out {CHOSEN}", SPEARMAN, OF_METHODS),
        Number("best_method_lead", LEAD, UNITS, OF_METHODS),
        Number(
            *("importance_share", "share of importance, without sign, that tokens of each class have", SHARE),
            *(BY_CLASS, KOBAYASHI),
        ),
        Number(
            *("altered_output", "change of the output with altered attention in all layers", OUTPUT, ALTERED, JAIN),
            definition="change of the output with altered attention in all layers: total variation of probabilities, "
            "difference of numbers, cosine distance of representations",
        ),
        Number(*("altered_decision", "another decision with altered attention in all layers", DECISION, ALTERED, JAIN)),
        Number("altered_distance", f"{DIVERGENCE}, altered in all layers", "nats", ALTERED, JAIN),
        Number("layer_altered_output", "change of the output with altered attention in a layer", OUTPUT, LAYERS, JAIN),
        Number(
            *("layer_altered_decision", "another decision with altered attention in a layer", DECISION, LAYERS, JAIN)
        ),
        Number("erased_lead", f"change of the output {ERASING}", OUTPUT, ERASED, JAIN),
        Number(*("erased_decision_lead", f"another decision {ERASING}", DECISION), *(ERASED, JAIN)),
        Number("other_lead", f"{DIVERGENCE}: {OTHER} minus permuted attention", "nats", (), JAIN),
        Number("head_other_distance", f"{DIVERGENCE}: {OTHER}, for a head alone", "nats", HEADS, JAIN),
        Number("head_other_change", "change of the output with that attention of a head alone", OUTPUT, HEADS, JAIN),
        Number("head_other_lead", f"{DIVERGENCE}: {OTHER} minus permuted, for a head alone", "nats", HEADS, JAIN),
        Number("attention_to", "attention to each class of token", "share of attention", OF_CLASSES, KOBAYASHI),
        Number("norm_to", NORM, "share of norm", OF_CLASSES, KOBAYASHI),
        Number(
            *("effective_share", f"{SHARE_OF_ROW}, {WIDE}", "share", HEADS, BRUNNER),
            definition="squared length of a row of attention outside of the null space of the values, divided by that "
            f"of the row, mean over queries; {WIDE}",
        ),
        Number("effective_correlation", f"{CORRELATION}, {WIDE}", "Pearson", HEADS, BRUNNER),
        Number(
            *("completeness_error", "error of the sum of integrated gradients", "share of their sizes", ("layer",)),
            *("Sundararajan et al. 2017, section 3",),
            definition="sum of the integrated gradients of an input, minus the difference of the target between it "
            "and its blank input; the absolute value of this, divided by the sum of the absolute integrated gradients",
        ),
        COVERAGE[1],  # token_share is a dimension here
    ),
)
