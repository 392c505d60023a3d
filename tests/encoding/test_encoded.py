"""What each token of an input is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.processors import TemplateProcessing

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import CLASS, Encoded, class_exists
from headscope.encoding.encoder import Long, Words
from headscope.encoding.word_tokens import Tokens
from headscope.linguistics.sentence import Example, Sentence
from headscope.passes.batches import collate
from headscope.testing.hand_made import padded
from support.any_examples import KINDS, examples, overlapping, spoken, tokenizer
from support.tiny import tiny_tokenizer

HEADS = 2
quick = settings(max_examples=15, deadline=None, derandomize=True, database=None)


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


def read(made: Sequence[Example], kind: str = "wordpiece", most: int = 10**6, long: Long = "skip") -> list[Encoded]:
    return list(Words(tokenizer(kind), most, long, aligned=True).encode(made))


def batch_of(inputs: list[Encoded]) -> Batch:
    return collate(inputs, pad=0, class_exists=[True] * 4, device=torch.device("cpu"))


def maps_of(inputs: list[Encoded]) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    return [torch.randn(HEADS, len(encoded), len(encoded), generator=random).mul(3).softmax(-1) for encoded in inputs]


def between(inputs: list[Encoded], maps: list[torch.Tensor], block: int = 10**6) -> torch.Tensor:
    """The attention between the words of a batch, from so many queries at a time."""
    batch, attention, summed = batch_of(inputs), padded(maps), torch.zeros(())
    for first in range(0, attention.shape[2], block):
        queries = slice(first, first + block)
        summed = summed + Rows(attention[:, :, queries], batch, slice(0, len(inputs)), queries).between_words
    return summed


def test_offsets_are_made_once_for_all_tokens() -> None:
    made: list[int] = []

    class Counted:
        sequence_ids = (None, 0, 0, None)

        @property
        def offsets(self) -> list[tuple[int, int]]:
            made.append(1)
            return [(0, 0), (0, 2), (2, 3), (0, 0)]

    tokens = Tokens(Counted(), 0)  # type: ignore[arg-type]
    assert list(tokens.covering((0, 3), 0)) == [1, 2] and len(made) == 1


def naive(attention: np.ndarray, tokens: list[set[int]]) -> np.ndarray:
    """To a word the sum, from a word the mean over its tokens; nothing where one of the two has none."""
    words = np.zeros((len(attention), len(tokens), len(tokens)))
    for source, queries in enumerate(tokens):
        for target, keys in enumerate(tokens):
            for query in queries:
                for key in keys:
                    words[:, source, target] += attention[:, query, key] / len(queries)
    return words


def tokens_of(made: Example, kind: str) -> list[set[int]]:
    """The tokens of all words of an example."""
    return [tokens for _, words in overlapping(made, spoken(made, kind)) for tokens in words]


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(made=st.lists(examples, min_size=1, max_size=4), block=st.integers(1, 5))
def test_attention_between_words_is_what_the_definition_says(kind: str, made: list[Example], block: int) -> None:
    inputs = read(made, kind)
    if not inputs:
        return
    maps = maps_of(inputs)
    found, has_token = between(inputs, maps, block).numpy(), batch_of(inputs).has_token.numpy()
    for row, has, encoded, attention in zip(found, has_token, inputs, maps, strict=True):
        assert encoded.example is not None
        tokens = tokens_of(encoded.example, kind)
        words = len(tokens)
        np.testing.assert_allclose(row[:, :words, :words], naive(attention.numpy(), tokens), atol=1e-6)
        assert not row[:, words:].any() and not row[:, :, words:].any()
        assert has.tolist() == [bool(its) for its in tokens] + [False] * (len(has) - words)


def plain(text: str, *segments: str) -> Example:
    """An example whose words stand between blanks."""
    return Example(text, (sentence(text),), tuple(map(sentence, segments)))


def sentence(text: str) -> Sentence:
    ends = np.cumsum([len(word) + 1 for word in text.split()]).tolist()
    return Sentence(text, tuple((end - len(word) - 1, end - 1) for end, word in zip(ends, text.split(), strict=True)))


def test_with_what_goes_to_special_tokens_a_word_has_1_to_give() -> None:
    inputs = read([plain("the birdcat sat there"), plain("an oldish dog", "it ran")])
    maps, batch = maps_of(inputs), batch_of(inputs)
    special = (batch.real & (batch.token_class < 2)).float()
    to_special = batch.mean_of_pieces[:, None] @ padded(maps) @ special[:, None, :, None]
    total = between(inputs, maps).sum(-1) + to_special[..., 0]
    assert inputs[1].pieces[:, 0].max() == 4
    torch.testing.assert_close(total, batch.has_token[:, None].expand_as(total).float())


def test_a_batch_is_its_examples_one_by_one() -> None:
    inputs = read([plain("the birdcat sat there"), plain("cat"), plain("an oldish dog", "it ran")])
    maps = maps_of(inputs)
    together = between(inputs, maps)
    for row, encoded, attention in zip(together, inputs, maps, strict=True):
        alone = between([encoded], [attention])[0]
        torch.testing.assert_close(row[:, : alone.shape[1], : alone.shape[1]], alone)


def counts(made: Example, most: int = 10**6, long: Long = "skip") -> dict[str, int]:
    words = Words(tokenizer("wordpiece"), most, long, aligned=True)
    list(words.encode([made]))
    return dict(words.counts)


def test_words_that_share_tokens_are_counted_and_have_the_same_attention() -> None:
    zum = Example("zum", (Sentence("zum haus", ((0, 3), (0, 3), (4, 8))),))
    assert counts(zum) == {"words that share a token": 2}
    inputs = read([zum])
    found = between(inputs, maps_of(inputs))[0]
    torch.testing.assert_close(found[:, 0], found[:, 1])
    torch.testing.assert_close(found[..., 0], found[..., 1])
    assert not torch.equal(found[:, 0], found[:, 2])


def test_a_piece_that_reaches_over_two_words_is_both_words() -> None:
    """ "don't" is do + n't, and BERT's pieces are don, ' and t."""
    cat = Example("a", (Sentence("cats", ((0, 2), (2, 4))),))
    assert counts(cat) == {"words that share a token": 2}
    assert read([cat])[0].pieces.tolist() == [[0, 1], [1, 1], [1, 2]]


def test_words_that_the_tokenizer_drops_are_counted() -> None:
    dropped = Example("a", (Sentence("cat \u200d\u00ad dog", ((0, 3), (4, 6), (7, 10))),))
    assert counts(dropped) == {"words without a token": 1}
    assert batch_of(read([dropped])).has_token.tolist() == [[True, False, True]]


def test_words_that_are_cut_off_are_counted_unless_another_window_has_them() -> None:
    long = plain("the cat saw the dog and ran")
    assert counts(long, most=6, long="truncate") == {"truncated": 1, "words without a token": 3}
    assert counts(long, most=6, long="window") == {"windows": 1}
    assert counts(long, most=6) == {"long": 1}
    windows = read([long], most=6, long="window")
    assert [sorted(set(window.pieces[:, 0].tolist())) for window in windows] == [[0, 1, 2, 3], [4, 5, 6]]
    assert batch_of(windows).has_token.sum(1).tolist() == [4, 3]


def test_words_are_carried_only_where_they_are_asked_for() -> None:
    words = Words(tokenizer("wordpiece"), 64)
    inputs = list(words.encode([plain("the cat")]))
    assert inputs[0].example is None and not len(inputs[0].pieces) and not words.counts
    with pytest.raises(RuntimeError, match="aligned=True"):
        between(inputs, maps_of(inputs))
