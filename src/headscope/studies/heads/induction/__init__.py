"""Heads that repeat, copy, look at the first token, or look far back."""

from headscope.common_numbers import COVERAGE, places
from headscope.study import Cost, Dimension, InSurvey, Kind, Number, Study

HEADS, LAYER, RELATION, CONTEXT = ("layer", "head"), ("layer",), ("relation",), ("context",)
LINKS, FOCI, PAIRS = (*HEADS, "relation"), (*HEADS, "focus"), (*HEADS, "context", "depth")
SHARE, TOKENS = "share of attention", "share of tokens"
PLANTED, RANDOM, VISIBLE = "planted pairs of random tokens", "an input of random tokens", "each layer's visible tokens"
CIRCUIT = "Elhage et al. 2021, copying by the circuit from input to output embeddings"
SINKS, NORMS = "attention sinks (Xiao et al. 2024)", "Kobayashi et al. 2020, section 2"
UNIFORM = "attention of uniform heads along links in repeated random tokens"
WITHOUT = "attention of the chosen head without a repetition, on the other half"
PAIR_GAIN = "attention after an earlier copy in a text minus that without the copy"
EVERYWHERE = "whether the gain at a planted pair is 0.1 or more at each depth, with q < 0.05"
FINDER = "layer of the head with the largest gain at planted pairs, on one half of the texts"
MOVED = "norm of what a head moves from a sink, divided by that from other tokens"
EIGENVALUES = "eigenvalues of the circuit: their sum over the sum of their absolute values"
BY_CHANCE = "false discovery rate of copying, against the head's output turned at random"
CAUSAL = "repeated random tokens, the head replaced by its mean (Olsson et al. 2022, argument 3)"
WITHOUT_HEAD = "rise of the loss of the second copy of random tokens without the head"
WINDOW = "largest distance that the layer sees according to the configuration"


def along_links(prefix: str, where: str, attention: str, control: str) -> tuple[Number, ...]:
    """The numbers of attention along links of each relation beside that without a repetition.

    * `prefix`: of their names; `where`: the texts; `attention`, `control`: their definitions.
    """
    enough = f"whether the gain {where} is 0.1 or more, with q < 0.05, in 50 tokens"
    return (
        Number(f"{prefix}attention", f"attention along links {where}", SHARE, LINKS, definition=attention),
        Number(
            *(f"{prefix}control", f"attention where nothing is repeated, for links {where}", SHARE, LINKS),
            definition=control,
        ),
        Number(f"{prefix}gain", f"attention along links {where} minus that where nothing is repeated", SHARE, LINKS),
        Number(f"{prefix}q_value", f"false discovery rate of a gain {where}", "rate", LINKS),
        Number(f"{prefix}special", enough, "1 if so", LINKS),
    )


STUDY = Study(
    question="Which heads repeat, copy, look at the first token, or look far back?",
    source="induction heads (Olsson et al. 2022), on random tokens",
    attention=True,
    survey=InSurvey("text", Cost(2, 0.3, fixed=2, complete=22, tokens=24_300, swept=510)),
    kinds=(
        Kind(30, "induction", "#332288", "looks at the token after an earlier copy, 0.1 more than without the copy"),
        Kind(
            *(31, "duplicate", "#44aa99"),
            "looks at an earlier copy of the token, 0.1 more than without the copy",
            "earlier copy",
        ),
        Kind(
            *(32, "retrieval", "#88ccee"),
            "looks at the token after the only earlier copy, anywhere in a long text, 0.1 more than without the copy",
        ),
        Kind(33, "copying", "#661100", "raises the prediction of three quarters of the tokens where it looks at them"),
        Kind(
            *(70, "sink", "#6d8ba3"),
            "gives the first token, delimiters, or periods and commas 0.4 of its attention or more",
        ),
    ),
    required=("attention", "planted_attention", "sink_attention"),
    quick=("--sequences", "4", "--copy", "6", "--contexts", "16", "--texts", "4", "--tokens", "20"),
    dims={"depth": Dimension("where in a text something is planted, as a share of its length", "share")},
    numbers=(
        *along_links(
            *("", "in repeated random tokens"),
            "attention in repeated random tokens to the token after an earlier copy (induction), to the copy "
            "(duplicate), to the token before (previous)",
            "attention to the same places where nothing is repeated; for previous that of uniform attention",
        ),
        Number("uniform", UNIFORM, SHARE, ("layer", "relation"), VISIBLE),
        *places("the head with the largest gain on one half of the sequences", "relation"),
        Number("chosen_attention", "attention of the chosen head along links, on the other half", SHARE, RELATION),
        Number("chosen_control", WITHOUT, SHARE, RELATION),
        Number("chosen_gain", "gain of the chosen head, on the other half", SHARE, RELATION),
        *along_links(
            *("natural_", "in the corpus"),
            "attention to the nearest earlier copy in the corpus, or after it",
            "attention between other pairs of tokens at the same distances",
        ),
        Number("planted_attention", "attention to the token after an earlier copy in a text", SHARE, PAIRS, PLANTED),
        Number("planted_control", "attention to the same place without the copy", SHARE, PAIRS, PLANTED),
        Number("planted_gain", PAIR_GAIN, SHARE, PAIRS, PLANTED),
        Number("planted_q_value", "false discovery rate of a gain at a planted pair", "rate", PAIRS, PLANTED),
        Number("planted_special", EVERYWHERE, "1 if so", PAIRS[:3], PLANTED),
        Number("finder_layer", FINDER, "layer", CONTEXT, PLANTED),
        Number("finder_head", "number in its layer of that head", "head", CONTEXT, PLANTED),
        Number("finder_gain", "gain of that head at a planted pair, on the other half", SHARE, PAIRS[2:], PLANTED),
        Number("finder_mean_gain", "gain of that head over all depths, on the other half", SHARE, CONTEXT, PLANTED),
        Number("sink_attention", "attention to the first token, delimiters and punctuation", SHARE, FOCI, SINKS),
        Number(
            "sink_share",
            "uniform attention to the first token, delimiters and punctuation",
            SHARE,
            ("layer", "focus"),
            SINKS,
        ),
        Number("value_norm", MOVED, "ratio", FOCI, NORMS),
        Number("copying", "tokens whose own logit a head raises above the mean", TOKENS, HEADS, CIRCUIT),
        Number("copying_most", "tokens whose own logit a head raises more than all others", TOKENS, HEADS, CIRCUIT),
        Number("copying_eigenvalues", EIGENVALUES, "from -1 to 1", HEADS, CIRCUIT),
        Number("copying_q_value", "false discovery rate of copying", "rate", HEADS, CIRCUIT, BY_CHANCE),
        Number("copy_loss", "loss of the second copy of random tokens, by token", "nats", (), CAUSAL),
        Number("copy_loss_rise", WITHOUT_HEAD, "nats", HEADS, CAUSAL),
        Number("mean_distance", "mean distance of what a token attends to", "tokens", HEADS, SINKS),
        Number("farthest_back", "largest distance back at which some head attends", "tokens", LAYER, RANDOM),
        Number("farthest_forward", "largest distance forward at which some head attends", "tokens", LAYER, RANDOM),
        Number("window", WINDOW, "tokens", LAYER, RANDOM),
        Number(
            "farthest_possible", "largest distance in the input in which distances are measured", "tokens", (), RANDOM
        ),
        *COVERAGE,
    ),
)
