"""Maps to be labelled are those of the model, and chosen by the seed."""

from dataclasses import replace

import pytest
import torch

import headscope
from headscope import Settings
from headscope.corpora import Options, read
from pattern_workshop.sample import sampled
from support.tiny import tiny_bert, tiny_tokenizer

pytestmark = pytest.mark.thorough

CORPUS = read("sample", Options(limit=12))
QUICK = Settings(batch_tokens=200)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(max_position_embeddings=256), tiny_tokenizer(256))


def test_sampled_maps_are_those_of_the_eager_model(model: headscope.Model) -> None:
    maps = sampled(model, [CORPUS], 10, QUICK)
    plain = tiny_bert(max_position_embeddings=256)
    plain.set_attn_implementation("eager")
    for sampled_map in maps:
        ids = torch.tensor([model.tokenizer.convert_tokens_to_ids(list(sampled_map.tokens))])
        types = torch.zeros_like(ids)
        first = ids[0].tolist().index(model.tokenizer.sep_token_id)
        types[0, first + 1 :] = 1
        with torch.inference_mode():
            attentions = plain(ids, token_type_ids=types, output_attentions=True).attentions
        torch.testing.assert_close(
            torch.from_numpy(sampled_map.attention),
            attentions[sampled_map.layer - 1][0, sampled_map.head - 1],
            atol=1e-5,
            rtol=0,
        )
        assert sampled_map.token_class[0] == "cls" and sampled_map.token_class[-1] == "sep"


def test_the_seed_chooses_and_no_map_comes_twice(model: headscope.Model) -> None:
    maps = sampled(model, [CORPUS], 40, QUICK)
    origins = [(sampled_map.tokens, sampled_map.layer, sampled_map.head) for sampled_map in maps]
    assert len(set(origins)) == 40 and len({sampled_map.tokens for sampled_map in maps}) == 12
    assert [
        (sampled_map.tokens, sampled_map.layer, sampled_map.head) for sampled_map in sampled(model, [CORPUS], 40, QUICK)
    ] == origins
    other = sampled(model, [CORPUS], 40, replace(QUICK, seed=1))
    assert [(sampled_map.tokens, sampled_map.layer, sampled_map.head) for sampled_map in other] != origins
    assert {sampled_map.layer for sampled_map in maps} == {1, 2, 3} and {sampled_map.head for sampled_map in maps} == {
        1,
        2,
        3,
        4,
    }
