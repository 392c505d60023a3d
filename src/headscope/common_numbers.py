"""Numbers that several studies declare: of chosen heads, and of uniform attention."""

from headscope.study import Number

SINK_SOURCE, SHARE = "Clark et al. 2019, section 3.2", "share of attention"
SHARES = "what uniform attention gives each class of tokens: its share of them"
INPUTS = "each input's tokens, in a causal model those up to each token, averaged over inputs"
# What the measures of attention are read against.
COVERAGE = (
    Number("token_share", SHARES, "share of tokens", ("token_class",), INPUTS),
    Number("uniform_entropy", "entropy of uniform attention", "nats", (), INPUTS),
)
# The importance of heads that `ablate` and `prune` read.
PROGRAMS, BY_GRADIENT = (
    "Michel et al. 2019, 4.1, and programs named as the estimators",
    "importance of a head, by the gradient of the loss",
)
ESTIMATORS = (
    "from g[e, t], the derivative of the loss of example e in the gate of the head at token t, over n examples. "
    "`michel`: mean over e of |sum over t of g| (Michel et al. 2019, 4.1). `michel_code`: sum over e and t of |g|, "
    "divided by the number of tokens, in the last layer by n: their code for BERT. `text_pruner`: |mean over e of the "
    "sum over t of g|: TextPruner's, with all examples in one batch. `run_bertology`: sum over e of |sum over e' <= e "
    "and all t of g|, divided by the number of tokens: the script of transformers, which never resets gradients"
)
IMPORTANCE = (
    Number(
        *("importance", BY_GRADIENT, "loss, or loss per token", ("layer", "head", "estimator")), *(PROGRAMS, ESTIMATORS)
    ),
    Number(
        *("importance_normalised", f"{BY_GRADIENT}, compared within its layer", "share of its layer's norm"),
        *(("layer", "head", "estimator"), PROGRAMS),
        "`importance` divided by the length of that of its layer; `run_bertology` then scaled to 0 to 1",
    ),
)
CHOSEN = "attention to special tokens in the chosen head, on the other half, from"


def places(head: str, *dims: str) -> tuple[Number, Number]:
    """The numbers `chosen_layer` and `chosen_head`.

    * `head`: which head that is, such as "the head that is best on one half"; `dims`: there is one for each label.

    >>> places("the best head", "relation")[1].what
    'number in its layer of the best head'
    """
    return (
        Number("chosen_layer", f"layer of {head}", "layer", dims),
        Number("chosen_head", f"number in its layer of {head}", "head", dims),
    )


def sinks(dim: str) -> tuple[Number, ...]:
    """The attention of chosen heads to special tokens, where their function applies and elsewhere, by its labels.

    >>> sinks("relation")[2].name
    'sink_gain'
    """
    gain = "attention to special tokens from other words minus that from words to which the function applies"
    rate = "false discovery rate of heads in which other words give special tokens more"
    return (
        Number("sink_applies", f"{CHOSEN} words to which its function applies", SHARE, (dim,), SINK_SOURCE),
        Number("sink_otherwise", f"{CHOSEN} other words", SHARE, (dim,), SINK_SOURCE),
        Number("sink_gain", gain, SHARE, (dim,), SINK_SOURCE),
        Number("sink_q_value", rate, "rate", (dim,), SINK_SOURCE),
    )
