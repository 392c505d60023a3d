"""Segment ids are those of the encoding where a network has a table of segments, whatever its tokenizer lists."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, GPT2LMHeadModel, PreTrainedModel, PreTrainedTokenizerBase

import headscope
from headscope.capture.transformers_logging import quiet
from headscope.corpora.suites.item import sentence
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.models.checkpoint import locate
from headscope.models.segment_ids import NAME, SegmentReading, segment_reading
from headscope.outputs.words.predictor import WordPredictor, text_scores
from headscope.report.facts import summary
from headscope.studies.heads.induction.made_inputs import maker
from headscope.training.initialisation import initial
from support.claim_texts import corpus
from support.small_tasks import birds
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

TEXTS = [("The cat sat.", "A dog ran by."), ("It was an old house by the river.", ""), ("a bird", "she saw it " * 12)]
BERT = ("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
XLNET = ("$A:0 [SEP]:0 [CLS]:2", "$A:0 [SEP]:0 $B:1 [SEP]:1 [CLS]:2")
SEGMENTS = ["bert", "albert", "electra", "layoutlm", "ernie", "rembert", "roformer", "splinter", "xlnet"]
AMONG_WORDS = ["gpt2", "gptj", "codegen", "gpt_neo", "openai-gpt", "gpt_bigcode", "flaubert", "xlm"]
NONE = ["distilbert", "mpnet", "roberta", "t5", "llama", "deberta-v2"]


def family(kind: str) -> PreTrainedModel:
    """A tiny model that reads what `tiny_tokenizer` writes, in eager attention, to compare with."""
    sizes: dict[str, Any] = {"vocab_size": len(tiny_vocabulary()), "type_vocab_size": 1 if kind in NONE else 2}
    network = tiny_network(tiny_config(kind, **sizes))
    network = network.get_encoder() if network.config.is_encoder_decoder else network
    network.set_attn_implementation("eager")
    return network


def tokenizer_of(kind: str, *, lists: bool = False) -> PreTrainedTokenizerBase:
    """A tokenizer with the segments of BERT's or XLNet's, which are listed or not."""
    tokenizer: Any = tiny_tokenizer()
    single, pair = XLNET if kind == "xlnet" else BERT
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=single, pair=pair, special_tokens=special)
    if lists:
        tokenizer.model_input_names = [*tokenizer.model_input_names, NAME]
        tokenizer.init_kwargs["model_input_names"] = tokenizer.model_input_names
    return tokenizer


def entropies(network: PreTrainedModel, tokenizer: Any, texts: list, *, segments: bool, room: int = 64) -> np.ndarray:
    """Mean entropy [layer, head], one text and one query at a time, of the eager model."""
    found = []
    for first, second in texts:
        side = "only_second" if len(second) > len(first) else "only_first"
        cut = {"truncation": side, "max_length": room, "return_overflowing_tokens": True}
        for encoding in tokenizer(first, second or None, **cut).encodings:
            further = {NAME: torch.tensor([encoding.type_ids])} if segments else {}
            with torch.inference_mode():
                maps = network(torch.tensor([encoding.ids]), output_attentions=True, **further).attentions
            found.append(
                [[np.mean([torch.special.entr(row).sum() for row in head]) for head in one[0]] for one in maps]
            )
    return np.mean(found, axis=0)


def measured(model: headscope.Model, texts: list, **settings: Any) -> np.ndarray:
    examples = [
        Example(str(number), (Sentence(first),), (Sentence(second),) if second else ())
        for number, (first, second) in enumerate(texts)
    ]
    run = headscope.Settings(resamples=5, **settings)
    return headscope.profile(model, corpus(examples), run, examples=0)["entropy"].values


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("kind", in_turn(SEGMENTS))
def test_attention_is_that_of_the_encoding_with_its_segments(kind: str, lists: bool) -> None:
    network, tokenizer = family(kind), tokenizer_of(kind, lists=lists)
    model = headscope.wrap(network, tokenizer)
    assert model.notes == ()
    for texts in (TEXTS[:1], TEXTS[1:2], TEXTS):
        expected = entropies(network, tokenizer, texts, segments=True)
        np.testing.assert_allclose(measured(model, texts), expected, atol=2e-5)
    assert abs(expected - entropies(network, tokenizer, TEXTS, segments=False)).max() > 1e-3


def test_windows_of_a_long_pair_have_its_segments() -> None:
    network, tokenizer = family("albert"), tokenizer_of("albert")
    tokenizer.model_max_length = 20
    model = headscope.wrap(network, tokenizer)
    expected = entropies(network, tokenizer, TEXTS, segments=True, room=20)
    np.testing.assert_allclose(measured(model, TEXTS, long="window"), expected, atol=2e-5)


@pytest.mark.parametrize("kind", in_turn(AMONG_WORDS))
def test_a_model_that_looks_them_up_among_its_words_gets_none(kind: str) -> None:
    network, tokenizer = family(kind), tokenizer_of(kind)
    model = headscope.wrap(network, tokenizer)
    assert segment_reading(network).among_words and model.notes == () and model.tokenizer is tokenizer
    np.testing.assert_allclose(measured(model, TEXTS), entropies(network, tokenizer, TEXTS, segments=False), atol=2e-5)


@pytest.mark.parametrize("kind", in_turn(AMONG_WORDS))
def test_it_gets_them_and_says_so_where_its_tokenizer_lists_them(kind: str) -> None:
    network, tokenizer = family(kind), tokenizer_of(kind, lists=True)
    model = headscope.wrap(network, tokenizer, "m")
    (line,) = model.notes
    assert line.startswith("model 'm': its tokenizer lists segment ids (token_type_ids)")
    np.testing.assert_allclose(measured(model, TEXTS), entropies(network, tokenizer, TEXTS, segments=True), atol=2e-5)


@pytest.mark.parametrize("kind", in_turn(NONE))
def test_a_model_without_a_table_gets_none(kind: str) -> None:
    network, tokenizer = family(kind), tokenizer_of(kind)
    reading = segment_reading(network)
    assert not reading.changes and reading.rows < 2
    assert headscope.wrap(network, tokenizer).tokenizer.model_input_names == ["input_ids", "attention_mask"]


def test_the_reading_leaves_no_trace() -> None:
    network = tiny_bert().train()
    state = torch.random.get_rng_state()
    assert segment_reading(network) == SegmentReading(changes=True, rows=2)
    assert network.training and torch.equal(torch.random.get_rng_state(), state)
    assert not any(module._forward_pre_hooks for module in network.modules())


def test_a_saved_model_lists_them_and_a_wrapped_tokenizer_stays_as_it_is(tmp_path: Path) -> None:
    tokenizer = tokenizer_of("bert")
    model = headscope.wrap(tiny_bert(), tokenizer)
    assert NAME not in tokenizer.model_input_names and NAME in model.tokenizer.model_input_names
    model.tokenizer.save_pretrained(tmp_path)
    assert AutoTokenizer.from_pretrained(tmp_path)("a", "b")[NAME] == model.tokenizer("a", "b")[NAME]
    assert max(model.tokenizer("a", "b")[NAME]) == 1


def test_a_model_is_trained_with_them(tmp_path: Path) -> None:
    with quiet():
        save_tiny(tmp_path, tokenizer=tokenizer_of("bert"))
    start = initial(locate(str(tmp_path)), birds(), "pretrained", seed=0)
    assert NAME in start.tokenizer.model_input_names


def test_made_inputs_have_those_of_the_special_tokens() -> None:
    model = headscope.wrap(family("xlnet"), tokenizer_of("xlnet"))
    assert maker(model, 0).repeated(1, 3, 2)[0].inputs[NAME].tolist() == [0] * 7 + [2]


def test_an_id_beyond_the_table_is_refused_where_none_are_listed(tmp_path: Path) -> None:
    with quiet():
        save_tiny(tmp_path, tokenizer=tokenizer_of("xlnet"))
    with pytest.raises(HeadscopeError, match="has the type id 2, the embedding of types ends at 1"):
        headscope.load(str(tmp_path))


@pytest.mark.parametrize("lists", [False, True])
def test_words_are_predicted_with_what_the_model_gets(lists: bool) -> None:
    network: Any = tiny_gpt2(kind=GPT2LMHeadModel)
    model = headscope.wrap(network, tokenizer_of("gpt2", lists=lists))
    inputs = model.tokenizer("The cat sat.", return_tensors="pt")
    assert (NAME in inputs) == lists
    with torch.inference_mode():
        logits = network(**inputs).logits[0].log_softmax(-1)
    expected = sum(logits[token - 1, inputs["input_ids"][0, token]].item() for token in range(1, 5))
    assert text_scores(WordPredictor(model), [sentence("The cat sat.")]).values == pytest.approx([expected], abs=1e-4)


LISTED = "its tokenizer lists segment ids (token_type_ids), which its network adds to each token as further words"


def test_a_result_and_its_page_say_how_a_model_is_read() -> None:
    model = headscope.wrap(tiny_gpt2(), tokenizer_of("gpt2", lists=True))
    result = headscope.profile(model, ["The cat sat."], headscope.Settings(resamples=5), examples=0)
    assert LISTED in result.attrs["model_notes"] and LISTED in dict(summary(result))["How it is read"]
