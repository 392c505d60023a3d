"""A fast tokenizer made of one of Python alone reads what that reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import EsmTokenizer, PreTrainedTokenizerBase

from headscope.models.fast_tokenizer import fast
from support.letters import ESM

TEXT = st.lists(st.sampled_from([*ESM.split(), " ", "\n", "k", "<", "é", "<mas", "null"]), max_size=12).map("".join)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[PreTrainedTokenizerBase, PreTrainedTokenizerBase]:
    path = tmp_path_factory.mktemp("esm") / "vocab.txt"
    path.write_text(ESM.replace(" ", "\n"))
    slow = EsmTokenizer(str(path))
    return slow, fast("m", slow)


@given(TEXT, TEXT)
def test_a_fast_tokenizer_reads_any_text_as_that_of_esm(pair, first: str, second: str) -> None:
    slow, made = pair
    assert made.is_fast and fast("m", made) is made
    assert made(first)["input_ids"] == slow(first)["input_ids"]
    second = f"A{second}"  # an empty one counts as none in a fast tokenizer alone
    assert made(first, second)["input_ids"] == slow(first, second)["input_ids"]
