"""What each token of an input is."""

from typing import Any

import numpy as np
from tokenizers.processors import TemplateProcessing

from headscope.encoding.encoded import CLASS, class_exists
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Sentence
from support.tiny import tiny_tokenizer


def test_one_special_token_for_start_and_end_is_told_by_its_place() -> None:
    """XLM's tokenizer has "</s>" for both."""
    tokenizer: Any = tiny_tokenizer()
    tokenizer.cls_token = tokenizer.sep_token
    sep = ("[SEP]", tokenizer.sep_token_id)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing("[SEP] $A [SEP]", "[SEP] $A [SEP] $B [SEP]", [sep])
    pair = Example("1", (Sentence("a cat"),), (Sentence("a dog"),))
    (encoded,) = Words(tokenizer, 64).encode([pair])
    assert np.flatnonzero(encoded.token_class == CLASS["cls"]).tolist() == [0]
    assert np.flatnonzero(encoded.token_class == CLASS["sep"]).tolist() == [3, 6]
    assert class_exists(tokenizer) == [True] * 4
