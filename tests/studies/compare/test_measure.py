"""Models that cannot be compared are refused with the reason."""

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, BertForSequenceClassification, DistilBertConfig, DistilBertModel

import headscope
from headscope import HeadscopeError, Model
from headscope.models.comparable import refuse_unless_comparable, shared_tokenizer
from headscope.models.segment_ids import NAME
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer
from support.trained import tokenizer_of


def bert(name: str = "b", tokenizer: Any = None, **config: Any) -> Model:
    return headscope.wrap(tiny_bert(**config), tokenizer or tiny_tokenizer(), name)


def refusal(*models: Model) -> str:
    with pytest.raises(HeadscopeError) as error:
        refuse_unless_comparable(models)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_model_and_its_fine_tuned_self_are_comparable(tmp_path: Path) -> None:
    tuned = tiny_bert(seed=1, kind=BertForSequenceClassification, num_labels=2)
    saved = headscope.load(str(save_tiny(tmp_path, tuned)), head=True)
    shorter = AutoTokenizer.from_pretrained(tmp_path, model_max_length=32)
    refuse_unless_comparable([bert("a"), saved, bert("c", shorter)])


def test_models_of_one_tokenizer_are_comparable_where_one_alone_reads_segments() -> None:
    distilbert = DistilBertModel(DistilBertConfig(vocab_size=172, dim=16, hidden_dim=16, n_layers=3, n_heads=4))
    models = [headscope.wrap(distilbert, tiny_tokenizer(), "d"), bert()]
    refuse_unless_comparable(models)
    assert shared_tokenizer(models) is models[1].tokenizer and NAME in models[1].tokenizer.model_input_names


def test_one_model_is_compared_with_nothing() -> None:
    assert refusal(bert("a")) == "model 'a' has no model to compare with; name two or more"


def test_one_object_is_not_two_models() -> None:
    model = bert("a")
    assert "given twice" in refusal(model, bert(), model)


def test_another_vocabulary_is_refused() -> None:
    other = bert("b", tokenizer_of("deberta-v2"), vocab_size=600)
    assert "their tokenizers have 172 and 600 pieces, " in refusal(bert("a"), other)


def test_the_same_pieces_in_another_order_are_refused() -> None:
    from tokenizers import Tokenizer

    swapped = tiny_tokenizer()
    backend: Any = swapped._tokenizer  # type: ignore[attr-defined]
    state = backend.to_str().replace('"cat":', '"CAT":').replace('"dog":', '"cat":').replace('"CAT":', '"dog":')
    swapped._tokenizer = Tokenizer.from_str(state)  # type: ignore[attr-defined]
    assert "172 and 172 pieces, 170 in common" in refusal(bert("a"), bert("b", swapped))


def test_other_special_tokens_are_refused() -> None:
    other = tiny_tokenizer()
    other.sep_token = "[MASK]"
    assert "different special tokens" in refusal(bert("a"), bert("b", other))


def test_a_tokenizer_that_splits_otherwise_is_refused() -> None:
    from tokenizers import normalizers

    cased = tiny_tokenizer()
    cased._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)  # type: ignore[attr-defined]
    assert "split 'The cat sat on the mat.' differently" in refusal(bert("a"), bert("b", cased))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"num_hidden_layers": 2}, "3 layers of 4 heads and 2 layers of 4 heads; name models with the same heads"),
        ({"num_attention_heads": 2}, "3 layers of 4 heads and 3 layers of 2 heads"),
    ],
)
def test_another_shape_is_refused(config: dict[str, int], reason: str) -> None:
    assert reason in refusal(bert("a"), bert("b", **config))
    assert reason in refusal(bert("a"), bert("c"), bert("b", **config))
