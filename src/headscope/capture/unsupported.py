"""Model types whose attention cannot be captured exactly, each with the reason."""

from headscope.errors import HeadscopeError

_SPARSE = "computes attention over windows and blocks, not over all pairs of tokens"
_SINKS = "has attention sinks, so that a token's attention does not sum to 1"
_APPROXIMATE = "approximates attention, so that there are no probabilities to read"

REFUSED = {
    "big_bird": f"{_SPARSE}, and returns no attentions to check against",
    "bigbird_pegasus": f"{_SPARSE}: only a part of its layers can be captured",
    "canine": "has attention layers over characters in local windows beside its ordinary ones",
    "diffllama": "subtracts one attention from another in each head, so that a token's attention does not sum to 1",
    "fnet": "has no attention: it mixes tokens with a Fourier transform",
    "funnel": "pools its queries, so that its attention is not square",
    "gpt_oss": _SINKS,
    "led": _SPARSE,
    "longformer": _SPARSE,
    "longt5": f"{_SPARSE}: only a part of its layers can be captured",
    "mra": _APPROXIMATE,
    "nystromformer": _APPROXIMATE,
    "pegasus_x": f"{_SPARSE}: only a part of its layers can be captured",
    "perceiver": "attends from latents to inputs, so that its attention is not square",
    "reformer": "hashes tokens into buckets and computes no softmax over them",
    "yoso": _APPROXIMATE,
}


def refuse_type(model_type: str, model: str = "", *, sinks: bool = False) -> None:
    """Raise `HeadscopeError` for a type that cannot be captured; `sinks`: whether the network has attention sinks."""
    if reason := REFUSED.get(model_type, _SINKS if sinks else ""):
        named = f"model '{model}': type" if model else "model type"
        raise HeadscopeError(f"{named} '{model_type}' {reason}; use another model")
