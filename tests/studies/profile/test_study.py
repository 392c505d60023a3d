"""The profile, as a whole, against a naive reading of the definitions."""

import os
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import CONFIG_MAPPING, AutoModel, PreTrainedModel

import headscope
from headscope import Corpus, Model, Settings
from headscope.corpora import Options, read
from headscope.encoding.encoder import offsets_of
from headscope.models.checkpoint import locate
from support.reference import differences, profile
from support.tiers import in_turn
from support.tiny import tiny_network
from support.trained import tokenizer_of

TOLERANCE = 1e-5
# Two tokens that get almost the same attention may have either order.
OF_RANKS = 1e-3
# A few resamples: the intervals have tests of their own.
QUICK = Settings(resamples=10, batch_tokens=600)
# Each with the number of examples that are compared; HEADSCOPE_MANY multiplies it.
CORPORA = {
    "ud/en_ewt-ud-dev.conllu.gz": (Options(), 24),
    "ud/en_gum-ud-dev.conllu.gz": (Options(), 20),
    "wikitext/wiki.test.raw.gz": (Options(kind="paragraphs"), 2),
    "glue/MRPC": (Options(kind="glue"), 6),
    "glue/RTE": (Options(kind="glue"), 6),
    "glue/QNLI": (Options(kind="glue"), 6),
}
MANY = int(os.environ.get("HEADSCOPE_MANY", "1"))
SIZES: dict[str, dict[str, Any]] = {
    "bert": {"max_position_embeddings": 80, "num_attention_heads": 4},
    "roberta": {"max_position_embeddings": 81, "num_attention_heads": 4},
    "modernbert": {
        "num_attention_heads": 4,
        "num_hidden_layers": 3,
        "global_attn_every_n_layers": 3,
        "local_attention": 8,
    },
    "deberta-v2": {"num_attention_heads": 4, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "gpt2": {"n_head": 4, "n_layer": 2, "n_positions": 80},
    "t5": {"num_heads": 4, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 1},
}


@cache
def minilm() -> tuple[Model, PreTrainedModel]:
    """The built-in model, and once more as transformers has it."""
    plain = AutoModel.from_pretrained(locate("minilm").folder, attn_implementation="eager").eval()
    return headscope.load("minilm"), plain


def tiny(kind: str) -> tuple[Model, PreTrainedModel]:
    """A tiny model of a type, and the same once more."""
    tokenizer = tokenizer_of("roberta" if kind == "modernbert" else "deberta-v2" if kind == "bert" else kind)
    common: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 48,
    }
    common |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = CONFIG_MAPPING[kind](**(common | SIZES[kind]))
    config._attn_implementation = "eager"
    model, plain = (tiny_network(config) for _ in range(2))
    return headscope.wrap(model, tokenizer), plain.get_encoder() if kind == "t5" else plain


def some(corpus: Corpus, number: int) -> Corpus:
    """Examples from everywhere in a corpus."""
    examples = list(corpus)[:: max(1, len(corpus) // number)][:number]
    return Corpus(corpus.name, corpus.sha256, len(examples), {}, partial(iter, examples))


def compared(models: tuple[Model, PreTrainedModel], corpus: Corpus) -> dict[str, float]:
    """The largest difference of each variable from the reference."""
    model, plain = models
    result = headscope.profile(model, corpus, QUICK, frequency=True)
    found = differences(result, profile(plain, model.tokenizer, corpus, model.max_tokens))
    found["frequency_correlation"] *= TOLERANCE / OF_RANKS
    print(f"{model.network.config.model_type} {corpus.name}: {max(found.values()):.1e}, {found}")
    return found


@pytest.mark.parametrize("source", in_turn(CORPORA))
def test_profile_of_real_text_is_what_the_definitions_say(source: str, real_data: Path) -> None:
    options, number = CORPORA[source]
    corpus = read(real_data / source, options, offsets=offsets_of(locate("minilm")))
    assert max(compared(minilm(), some(corpus, number * MANY)).values()) < TOLERANCE


@pytest.mark.parametrize("kind", SIZES)
def test_profile_of_each_family_is_what_the_definitions_say(kind: str) -> None:
    found = compared(tiny(kind), some(read("sample"), 20 * MANY))
    assert max(found.values()) < TOLERANCE


def test_models_without_cls_and_sep_have_no_value_for_them() -> None:
    model, _ = tiny("gpt2")
    result = headscope.profile(model, some(read("sample"), 10), QUICK)
    for name, array in result.data_vars.items():
        special = [array] if str(name).startswith(("sep_to_sep", "cls_")) else []
        special += [array.sel({dim: ["cls", "sep"]}) for dim in ("token_class", "feature") if dim in array.dims]
        for missing in special:
            counted = str(name).endswith("_n_examples") or name == "token_share"
            assert (missing == 0).all() if counted else np.isnan(missing).all(), name
    assert (result["attention_to_n_examples"].sel(token_class=["punct", "other"]) == 10).all()
