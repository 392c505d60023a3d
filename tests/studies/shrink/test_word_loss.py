"""The loss of words beside the other scores of a smaller model: known tables, and a rise that is refused."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headscope import HeadscopeError, Settings, wrap
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.size.shrink.texts import Splits
from headscope.studies.size.shrink.word_loss import word_loss
from support.planted_words import SIZE, causal_table
from support.tiny import tiny_bert, tiny_tokenizer

TEXTS = tuple(Example(str(number), (Sentence("the cat the cat"),)) for number in range(4))


def judge(model: Any, task: Any = None, tolerance: float = 0.1) -> Any:
    texts = Splits((), (), TEXTS, (0, 1, 2, 3))
    return SimpleNamespace(model=model, task=task, texts=texts, settings=Settings(), tolerance=tolerance)


def test_the_loss_is_that_of_the_tables_and_a_rise_is_refused() -> None:
    surely, uniform = causal_table({("the", "cat"): 9.0, ("cat", "the"): 9.0}), causal_table({})
    found = word_loss(judge(surely), uniform, refuse=False)
    # three pieces of four follow from the one before, the first from [CLS], of which the table says nothing
    known = np.log(1 + (SIZE - 1) * np.exp(-9.0))
    expected = (np.log(SIZE) + 3 * known) / 4
    assert found["whole_words"].sel(words_metric="loss").item() == pytest.approx(expected, rel=1e-4)
    assert found["shrunk_words"].sel(words_metric="perplexity").item() == pytest.approx(SIZE, rel=1e-4)
    assert found["words_change"].sel(words_metric="loss").item() == pytest.approx(np.log(SIZE) - expected, rel=1e-4)
    with pytest.raises(HeadscopeError, match=rf"rises from {expected:.2f} to {np.log(SIZE):.2f} nats .*--best-effort"):
        word_loss(judge(surely), uniform, refuse=True)
    assert word_loss(judge(surely, tolerance=9.0), uniform, refuse=True).keys() == found.keys()


def test_there_is_none_without_a_head_for_words_or_with_a_task() -> None:
    encoder = wrap(tiny_bert(), tiny_tokenizer())
    assert word_loss(judge(encoder), encoder, refuse=True) == {}
    assert word_loss(judge(causal_table({}), task="mrpc"), encoder, refuse=True) == {}
