"""What passes are tested on that are killed, or that several processes read."""

import pytest

from headscope import Model
from headscope.corpora import Corpus, Options, read
from support.small_model import small_model


@pytest.fixture(scope="module")
def model() -> Model:
    return small_model()


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read("sample", Options(limit=30))


@pytest.fixture
def small_shards(journal_often: None, six_in_a_shard: None) -> None:
    """Shards of few examples, and a checkpoint after each."""
