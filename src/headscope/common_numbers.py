"""Numbers that several studies declare: of chosen heads, and of uniform attention."""

from headscope.study import Number

SINK_SOURCE, SHARE = "Clark et al. 2019, section 3.2", "share of attention"
SHARES = "share of tokens of each class: what uniform attention gives it"
INPUTS = "each input's tokens, averaged over inputs"
# What the measures of attention are read against.
COVERAGE = (
    Number("token_share", SHARES, "share of tokens", ("token_class",), INPUTS),
    Number("uniform_entropy", "entropy of uniform attention over all tokens", "nats", (), INPUTS),
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
    gain = "attention to special tokens from other words less that from words to which the function applies"
    rate = "false discovery rate at which other words give special tokens no more"
    return (
        Number("sink_applies", f"{CHOSEN} words to which its function applies", SHARE, (dim,), SINK_SOURCE),
        Number("sink_otherwise", f"{CHOSEN} other words", SHARE, (dim,), SINK_SOURCE),
        Number("sink_gain", gain, SHARE, (dim,), SINK_SOURCE),
        Number("sink_q_value", rate, "rate", (dim,), SINK_SOURCE),
    )
