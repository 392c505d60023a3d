"""Make a model smaller and faster, and show what each removed part cost.

Whole layers, neurons of the feed-forward parts, heads and pieces of the vocabulary are removed, such that an ordinary
class of transformers holds the rest. Fan et al. 2020 and Sajjad et al. 2023 drop layers, Voita et al. 2019 and
Michel et al. 2019 heads; Hinton et al. 2015 train the smaller model on the outputs of the larger one.
"""

from headscope.study import Dimension, Number, Study

STEP, METRIC, LAYER, KIND, WORDS = ("step",), ("metric",), ("layer",), ("head_kind",), ("words_metric",)
BY_STEP, BY_LAYER, HEADS = ("step", "metric"), ("step", "layer"), ("layer", "head")
SEARCHED, HELD_OUT = "examples of the search", "held-out examples, which the search never saw"
NEEDED = "held-out examples; models of the path, and the saved one; bounds: where this is possible, where it is shown"
UNTRAINED = "held-out examples, before any training, with the whole vocabulary"
CHOSEN = f"{UNTRAINED}; of random parts the mean of 5"
GATES = "gates that are trained together with the model (Voita et al. 2019; Louizos et al. 2018)"
PARTS = "parts of the saved model, and what they add to the states of texts of the search"
BOTH = "in the whole model and in the saved one"
VOITA, RANDOM = "after Voita et al. 2019, section 5", "as many random heads of the same layers"
PATH = (
    "score after each step of the search, with fitted maps and before any training; step 0 is the whole model. With "
    "`--method gates` step 1 is the model that was trained with its gates, without the closed parts, with maps as they "
    "are"
)
CHANGE = (
    "sum of squared differences of the outputs (embeddings of length 1, or outputs of the task head) from those of the "
    "whole model, divided by the sum of squared distances of the whole model's outputs from their mean"
)
SHARE_NEEDED = (
    "smallest share of the size (without pieces that go in any case) at which the main metric falls by less than the "
    "tolerance. The upper bound is the smallest tested size at which this is shown, the lower bound the one at which "
    "it is possible. Models are tested "
    "from the largest on up to the first that fails, and the saved one"
)
CHOICE = (
    "score of models of the saved size, with fitted maps and before any training, by how their parts are chosen: by "
    "the search, or the gates; by weights, those whose output weights (of a layer: all weights) are longest; at random"
)
KEPT = (
    "share of each layer that stays, 0 where the layer is gone: of its neurons and heads, of the variance that all its "
    "neurons add to the states, and of the mean square that its heads add"
)
LOSS = (
    "what inputs of a group, and all others, lose. Without a task: 1 minus the rank correlation of a text's "
    "similarities to other texts (at most 500) in both models. In a classification: 1 for an answer that was right "
    "before alone, -1 for one that is right after alone. In a regression: the growth of the absolute error. Where the "
    "whole model's answers are the labels it is the agreement with them that is lost. Groups: the shortest and the "
    "longest third by tokens, inputs read in other pieces, inputs with pieces that became unknown, and each class; of "
    "ten inputs at least"
)
OPEN = (
    "probability that the gate is not 0 at the end of the training of gates: the sigmoid of `log_alpha - 2/3 "
    "log(0.1/1.1)` (Louizos et al. 2018, equation 12)"
)
PORTABLE = "score of the model that the search for an ordinary one finds at the same target"
FINE = "gain of the main metric by the model of the last step of `--fine` over it, paired in each resample"
KINDS = (
    "heads of the whole model that are positional (0.4 or more of their attention goes to the previous or the next "
    "token in `profile`, or a diagonal in more than half of their maps in `patterns`), syntactic (special for a "
    "relation in `syntax`), semantic (special for a link in `relations`), for rare words (`frequency_correlation` of "
    "-0.4 or less in `profile --frequency`), or, where all three of the paper are measured, of one of these"
)
EXCESS = (
    "`kept_kind_share` minus `random_kind_share`. Its bounds are the share minus the 97.5% and the 2.5% quantile of "
    "all choices (for the 2.5% quantile the next lower number of heads)"
)
OF_WORDS = (
    "loss of a token in nats, perplexity, and bits a character, of models with a head for words: of the next words, or "
    "of 15% of the words of each text, each masked by itself"
)
STUDY = Study(
    question="How small and fast can my encoder be, and what does each part cost?",
    source="the search for a smaller model",
    survey="training: headscope shrink MODEL TEXT",
    example="headscope shrink minilm texts.txt --speed 1.5x -o out/shrunk",
    without=("workers", "engine", "address", "gpus_per_worker"),
    packages={"accelerate": "epochs", **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "eight_bit")},
    quick=("--size", "0.001MB", "--best-effort", "--epochs", "1", "--groups", "2"),
    required=("path_score",),
    dims={
        "words_metric": Dimension("how the predictions of words are scored"),
        "head_kind": Dimension("kind of heads, by other results: positional, syntactic, semantic, for rare words"),
        "choice": Dimension("how the parts that a smaller model keeps are chosen"),
        "kept": Dimension("what of a layer stays in a smaller model: parts, or what they add to the states"),
        "input_group": Dimension("group of inputs of a smaller model: by length, by pieces that are gone, by class"),
        "within": Dimension("whether inputs are those of a group, or all others"),
    },
    coords={"part": ("U", STEP)},
    attributes={"shrinking": "object"},
    numbers=(
        Number(
            "path_score", "score after each step, before the training of the rest", "score", BY_STEP, HELD_OUT, PATH
        ),
        Number("path_change", "change of the score from the whole model after each step", "score", BY_STEP, HELD_OUT),
        Number(
            "output_change",
            "squared change of the outputs by their squared distance from their mean",
            *("share", STEP, f"{SEARCHED}; outputs are embeddings, or those of the task head", CHANGE),
        ),
        Number("exact_change", "what each step adds to the change of the outputs", "share", STEP, SEARCHED),
        Number(
            *("megabytes", "size of the parameters", "megabytes", STEP, "without the pieces that go in any case"),
            "size of the parameters, without the pieces that go in any case",
        ),
        Number(
            *("layer_neurons", "neurons of the feed-forward part", "neurons", BY_LAYER), "0 for a layer that is removed"
        ),
        Number(
            *("cache", "bytes of keys and values of a token", "bytes", STEP),
            definition="bytes of the keys and values that a decoder keeps of a token, in numbers of 16 bits",
        ),
        Number("layer_heads", "heads that stay", "heads", BY_LAYER, "0 for a layer that is removed"),
        Number("whole_score", "score of the whole model", "score", METRIC, HELD_OUT),
        Number("untrained_score", "score of the saved model before its training", "score", METRIC, HELD_OUT),
        Number("shrunk_score", "score of the saved model", "score", METRIC, HELD_OUT),
        Number("shrunk_change", "change of the score from the whole model to the saved one", "score", METRIC, HELD_OUT),
        Number(
            "shrunk_gain",
            "gain of the main metric by the saved model, below 0 where it is worse",
            *("score", (), HELD_OUT),
        ),
        Number(
            "needed_share",
            "smallest share of the size at which the main metric falls by less than the tolerance",
            *("share", (), NEEDED, SHARE_NEEDED),
        ),
        Number("reloaded_score", "score of the saved model, loaded from its folder", "score", METRIC, HELD_OUT),
        Number("chance", "score of always the same answer", "score", METRIC, "the commonest class of dev, or 0"),
        Number(
            "choice_score",
            "score of a model of the saved size, by how its parts are chosen",
            *("score", ("choice", "metric"), CHOSEN, CHOICE),
        ),
        Number(
            "choice_gain",
            "gain of the main metric by the parts of the search over others",
            *("score", ("choice",), CHOSEN),
        ),
        Number(
            "kept_share", "share of a layer that stays, 0 of a removed layer", "share", ("layer", "kept"), PARTS, KEPT
        ),
        Number("head_stays", "whether a head stays, 1 or 0", "share", HEADS, PARTS),
        Number(
            "group_loss",
            "what inputs lose in the saved model",
            *("accuracy", ("input_group", "within"), f"held-out examples by group, {BOTH}", LOSS),
        ),
        Number(
            "changed_share",
            "share of examples whose predicted class changed",
            *("share", (), f"held-out examples, {BOTH}"),
        ),
        Number("whole_words", "score of words by the whole model", "score", WORDS, HELD_OUT, OF_WORDS),
        Number("shrunk_words", "score of words by the saved model", "score", WORDS, HELD_OUT),
        Number("words_change", "change of the score of words", "score", WORDS, HELD_OUT),
        Number("eight_bit_score", "score of the saved model in eight bits", "score", METRIC, HELD_OUT),
        Number(
            "eight_bit_gain",
            "gain of the main metric by the saved model in eight bits, below 0 where it is worse",
            *("score", (), HELD_OUT),
        ),
        Number("bfloat16_score", "score of the saved model in bfloat16", "score", METRIC, HELD_OUT),
        Number(
            "bfloat16_gain",
            "gain of the main metric by the saved model in bfloat16, below 0 where it is worse",
            *("score", (), HELD_OUT),
        ),
        Number("layer_gate", "probability that the gate of a layer is open", "probability", LAYER, GATES, OPEN),
        Number("open_neurons", "expected share of a layer's neurons whose gate is open", "share", LAYER, GATES),
        Number("head_gate", "probability that the gate of a head is open", "probability", HEADS, GATES),
        Number("portable_score", "score of an ordinary model at the same target", "score", METRIC, UNTRAINED, PORTABLE),
        Number(
            "fine_gain",
            "gain of the main metric by the model whose layers differ over the ordinary one",
            *("score", (), UNTRAINED, FINE),
        ),
        Number("kind_heads", "heads of the model that are of a kind", "heads", KIND, VOITA, KINDS),
        Number("kept_kind_share", "share of the heads that stay that are of a kind", "share", KIND, VOITA),
        Number("random_kind_share", f"share of {RANDOM} that are of a kind, on average", "share", KIND, VOITA),
        Number(
            "kept_kind_excess",
            "share of the heads that stay that are of a kind, beyond random ones",
            *("share", KIND, VOITA, EXCESS),
        ),
        Number(
            "kept_kind_p_value", f"chance that {RANDOM} have as many of a kind, or more", "probability", KIND, VOITA
        ),
        Number("kept_kind_q_value", "false discovery rate of this test, over kinds", "rate", KIND, VOITA),
    ),
)
