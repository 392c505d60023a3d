"""Which models can be compared head by head: those of one tokenizer and the same heads."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from headscope.errors import HeadscopeError
from headscope.models.model import Model
from headscope.models.segment_ids import NAME

# Differences between tokenizers of one vocabulary: case, accents, blanks, numbers, other scripts, and segments.
PROBES = (
    ("The cat sat on the mat.", None),
    ("Don't SHOUT in Zürich, naïve café-goer!", None),
    ("  two  blanks\tand 1,234.56 of (something) else ... ", None),
    ("日本語 и русский, عربى, 🙂", None),
    ("Is this one text?", "No, it is a pair."),
)


def refuse_unless_comparable(models: Sequence[Model]) -> None:
    """Raise `HeadscopeError`, with the reason, unless each model can be compared with the first."""
    first = models[0]
    if len(models) < 2:
        raise HeadscopeError(f"model '{first.name}' has no model to compare with; name two or more")
    for index, model in enumerate(models[1:], start=1):
        if any(model.network is other.network for other in models[:index]):
            raise HeadscopeError(f"model '{model.name}' is given twice as one object; load it twice")
        if model.device != first.device:
            raise HeadscopeError(
                f"models '{first.name}' and '{model.name}' are on different devices "
                f"({first.device}, {model.device}); load them with the same one"
            )
        if reason := _other_shape(first, model) or _other_tokens(first.tokenizer, model.tokenizer):
            raise HeadscopeError(f"models '{first.name}' and '{model.name}' cannot be compared: {reason}")


def shared_tokenizer(models: Sequence[Model]) -> PreTrainedTokenizerBase:
    """The tokenizer that makes the inputs of all of them: one with segment ids, if any model reads those."""
    tokenizers = [model.tokenizer for model in models]
    return next((tokenizer for tokenizer in tokenizers if NAME in tokenizer.model_input_names), tokenizers[0])


def _other_tokens(one: PreTrainedTokenizerBase, other: PreTrainedTokenizerBase) -> str | None:
    remedy = "name models of one tokenizer"
    if one.get_vocab() != other.get_vocab():
        same = len(one.get_vocab().items() & other.get_vocab().items())
        return f"their tokenizers have {len(one)} and {len(other)} pieces, {same} in common; {remedy}"
    if one.special_tokens_map != other.special_tokens_map:
        return f"their tokenizers have different special tokens; {remedy}"
    for first, second in PROBES:
        tokens, others = (tokenizer(first, second, verbose=False) for tokenizer in (one, other))
        if any(tokens[name] != others[name] for name in tokens.keys() & others.keys()):
            return f"their tokenizers split '{first}' differently; {remedy}"
    return None


def _other_shape(first: Model, second: Model) -> str | None:
    shapes = [first.capture.heads, second.capture.heads]
    if shapes[0] == shapes[1]:
        return None
    layers = [f"{len(heads)} layers of {', '.join(map(str, sorted(set(heads))))} heads" for heads in shapes]
    if layers[0] == layers[1]:
        return f"heads by layer are {shapes[0]} and {shapes[1]}; name models with the same heads"
    return f"{layers[0]} and {layers[1]}; name models with the same heads"
