"""A fast tokenizer, which gives character offsets, for one of Python alone whose few pieces are letters, as ESM's.

transformers has no rule to convert these. What is converted must read probes as the tokenizer does.
"""

import re
from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from headscope.capture.transformers_logging import refusing
from headscope.errors import HeadscopeError

MOST_PIECES = 64  # of a vocabulary that is small
PROBES = (("MKTAYIAKQRQISFVKSHFSRQ", None), ("M KT  lower XBUZO.-", None), ("A", "CD"))
# In the place of two texts, where special tokens are put around them.
TEXTS = {-1: "$A:0", -2: "$B:1"}


def fast(name: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """The tokenizer itself if it is fast, else a fast one that reads the same; `name`: of the model, for messages.

    Raises `HeadscopeError` if there is none.
    """
    if tokenizer.is_fast:
        return tokenizer
    problem = f"model '{name}': tokenizer {type(tokenizer).__name__} does not give character offsets"
    remedy = "convert it to a fast one (tokenizer.json)"
    with refusing(problem, remedy):
        if len(tokenizer) <= MOST_PIECES:
            converted = _of_pieces(tokenizer)
            if all(converted(*texts)["input_ids"] == tokenizer(*texts)["input_ids"] for texts in PROBES):
                return converted
    raise HeadscopeError(f"{problem}; {remedy}")


def _of_pieces(tokenizer: Any) -> PreTrainedTokenizerFast:
    """Its pieces wherever they stand, the longest first; what is between them, up to a blank, is unknown."""
    vocabulary, special = tokenizer.get_vocab(), tokenizer.special_tokens_map
    pieces = "|".join(map(re.escape, sorted(vocabulary, key=len, reverse=True)))
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=str(tokenizer.unk_token)))
    split = [pre_tokenizers.Split(Regex(pieces), "isolated"), pre_tokenizers.WhitespaceSplit()]
    backend.pre_tokenizer = pre_tokenizers.Sequence(split)  # type: ignore[assignment]
    single, pair = (
        [TEXTS.get(token) or tokenizer.convert_ids_to_tokens(token) for token in tokens]
        for tokens in (
            tokenizer.build_inputs_with_special_tokens([-1]),
            tokenizer.build_inputs_with_special_tokens([-1], [-2]),
        )
    )
    backend.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single=single, pair=pair, special_tokens=[(token, vocabulary[token]) for token in special.values()]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **special,
    )
