"""What tests of commands share: a small saved model, and pages that are not drawn."""

from collections.abc import Iterator

import pytest

from support.pages import empty_pages
from support.tiny import save_tiny, tiny_bert


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a model of two layers with two heads, which nothing writes to."""
    return str(save_tiny(tmp_path_factory.mktemp("model"), tiny_bert(num_hidden_layers=2, num_attention_heads=2)))


@pytest.fixture(scope="module")
def empty_study_pages() -> Iterator[None]:
    """The pages of studies are empty; portraits and pages of reproductions are written."""
    with empty_pages():
        yield
