"""Texts that a vocabulary lacks: findings about unknown tokens say nothing of the model."""

from transformers import PreTrainedTokenizerBase

from headscope.errors import HeadscopeError

# Shares of the tokens that are no special ones.
SAID, REFUSED = 0.1, 0.5


def unknown_line(corpus: str, tokenizer: PreTrainedTokenizerBase, unknown: int, tokens: int, inputs: int) -> str:
    """The share of unknown tokens and the likely reason in a line; empty up to a tenth.

    * `unknown`, `tokens`: numbers of unknown and of all tokens, special ones too, in `inputs` inputs.

    Raises `HeadscopeError` for more than a half.
    """
    share = unknown / max(1, tokens - inputs * tokenizer.num_special_tokens_to_add())
    line = f"corpus '{corpus}': {share:.0%} of its tokens are unknown to the model ('{tokenizer.unk_token}')"
    if share > REFUSED:
        raise HeadscopeError(f"{line}; {_reason(tokenizer)}; use other texts or another tokenizer")
    return f"{line}; {_reason(tokenizer)}" if share > SAID else ""


def _reason(tokenizer: PreTrainedTokenizerBase) -> str:
    """Why tokens may be unknown, by the letters of the vocabulary."""
    letters = "".join(tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens))
    if letters == letters.upper():
        return "its vocabulary has no small letters"
    if letters == letters.lower():
        return "its vocabulary has no capitals: is 'do_lower_case' of its tokenizer off?"
    return "its vocabulary may lack their script or language"
