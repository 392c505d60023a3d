"""A head that links what a relation links is found, others are not; and the study as a whole against loops."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Link, Sentence
from headscope.models.random_weights import untrained as random_weights
from headscope.studies.heads.relations import study
from support.made_inputs import corpus_of, spaced
from support.planted import looks_at_copies, looks_at_offset, looks_at_piece, looks_from_to, planted
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20, batch_tokens=200)
# Who saw: the link is between these words wherever they stand.
SEERS = {"cat": "saw", "dog": "saw", "child": "saw", "woman": "saw"}
HEADS = {(1, 2): looks_from_to(SEERS), (2, 1): looks_at_offset(-3), (2, 3): looks_at_piece("saw")}
TEXTS = (
    "the old cat sat and saw it by the road .",
    "saw it by the small road , the dog .",
    "a woman by the old town saw the river .",
    "it was the child that the man by the tree saw .",
    "by the river saw the old dog a bird .",
)


def seen(text: str, number: int) -> Sentence:
    """From the one who saw to "saw"; and three words ahead of every fifth word, as one head looks."""
    words = text.split()
    who = next(index for index, word in enumerate(words) if word in SEERS)
    links = (Link("Seer", (who,), (words.index("saw"),)), Link("Before", (4 + number % 3,), (1 + number % 3,)))
    return spaced(text, *links)


LINKED = corpus_of([Example(str(number), (seen(TEXTS[number % 5], number),)) for number in range(60)])


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, LINKED, QUICK)


def test_a_head_that_links_what_the_relation_links_is_found(result: xr.Dataset) -> None:
    seer = result.sel(relation="Seer")
    sharp = seer.sel(layer=1, head=2, direction="source_to_target")
    np.testing.assert_allclose(sharp["link_attention"], 1, atol=1e-6)
    assert sharp["elsewhere"] < 0.2 and sharp["others"] < 0.2 and sharp["special"] == 1
    chosen = [seer[f"chosen_{name}"].item() for name in ("layer", "head", "direction")]
    assert chosen == [1, 2, "source_to_target"] and seer["chosen_attention"] > 0.999
    assert (seer["chosen_gain_ci"] > 0.5).all() and (seer["chosen_gain_others_ci"] > 0.5).all()


def test_a_head_that_looks_so_far_back_gives_as_much_elsewhere(result: xr.Dataset) -> None:
    back = result.sel(relation="Before", layer=2, head=1, direction="source_to_target")
    assert back["link_attention"] > 0.999 and abs(back["gain"]) < 1e-6
    assert back["gain_others"] > 0.5 and back["special"] == 0 and back["q_value"] == 1


def test_a_head_in_which_all_look_at_the_target_gives_as_much_from_other_words(result: xr.Dataset) -> None:
    pointed = result.sel(relation="Seer", layer=2, head=3, direction="source_to_target")
    assert pointed["link_attention"] > 0.999 and pointed["gain"] > 0.5
    assert abs(pointed["gain_others"]) < 1e-6 and pointed["special"] == 0 and pointed["q_value"] == 1


def test_all_other_heads_look_at_all_tokens_alike(result: xr.Dataset) -> None:
    lengths = [len(example.first[0].words) + 2 for example in LINKED]
    for layer, head in ((1, 1), (1, 3), (1, 4), (2, 2), (2, 4)):
        its = result.sel(layer=layer, head=head)
        np.testing.assert_allclose(its["link_attention"], np.mean([1 / length for length in lengths]), rtol=1e-5)
        np.testing.assert_allclose(its["gain"], 0, atol=1e-6)
        assert (its["special"] == 0).all() and (its["q_value"] > 0.05).all()


def test_an_untrained_model_links_nothing(result: xr.Dataset) -> None:
    assert float(result["untrained"].max()) < 0.5
    assert (result["untrained_n_examples"] == result["link_attention_n_examples"]).all()
    again = study.run(headscope.wrap(planted(HEADS), tiny_tokenizer()), LINKED, QUICK)
    xr.testing.assert_equal(again["untrained"], result["untrained"])


def test_random_weights_of_three_seeds_are_beside_the_model(model: headscope.Model, result: xr.Dataset) -> None:
    gain = result["untrained_gain"]
    assert gain["seed"].values.tolist() == [0, 1, 2] and len({*gain.values.tolist()}) == 3
    alone = study.run(random_weights(model, 1), LINKED, QUICK, untrained=False)
    of_heads = alone[["gain", "gain_others"]].to_dataarray().min("variable").sel(relation="all")
    np.testing.assert_allclose(gain.sel(seed=1), of_heads.sel(direction="source_to_target").mean(), rtol=1e-6)
    assert "untrained_gain" not in study.run(model, LINKED, QUICK, untrained=False)


def test_no_document_is_in_both_halves(model: headscope.Model) -> None:
    sizes = (1, 2, 4, 8, 45)
    names = "".join(size * name for size, name in zip(sizes, "abcde", strict=True))
    named = [
        Example(example.id, tuple(replace(sentence, document=name) for sentence in example.first))
        for example, name in zip(LINKED, names, strict=True)
    ]
    result = study.run(model, replace(corpus_of(named), n_documents=5), QUICK, untrained=False)
    held_out = int(result["chosen_attention_n_examples"].sel(relation="all"))
    assert held_out in {sum(two) for two in combinations(sizes, 2)}


def test_the_percentile_is_over_all_heads(result: xr.Dataset) -> None:
    for relation in result["relation"].values:
        values = result["link_attention"].sel(relation=relation, direction="source_to_target")
        np.testing.assert_allclose(
            result["percentile"].sel(relation=relation, direction="source_to_target"), np.percentile(values, 99)
        )


def test_the_zoom_shows_the_head_and_the_ends_of_the_link(result: xr.Dataset) -> None:
    maps = result["map"]
    heads = list(zip(maps["map_layer"].values.tolist(), maps["map_head"].values.tolist(), strict=True))
    one = maps.isel(example=heads.index((1, 2)))
    assert len(set(heads)) == len(heads) and one["map_direction"] == "source_to_target"
    tokens, ends = one["token"].values.tolist(), one["link_end"].values
    query = int((ends == 1).argmax())
    assert tokens[query] in SEERS and [tokens[key] for key in (ends == 2).nonzero()[0]] == ["saw"]
    assert one.values[query][ends == 2].max() > 0.999
    length = len([token for token in tokens if token])
    np.testing.assert_allclose(np.nansum(one.values[:length], axis=1), 1, rtol=1e-5)


def test_attributes_say_what_was_asked(result: xr.Dataset) -> None:
    assert json.loads(result.attrs["options"]) == {"links": "annotated", "limits": ",,1", "as_coded": False}
    assert json.loads(result.attrs["filter"]) == {"read": 60, "dropped": {}, "kept": 60}
    assert result.attrs["n_links"] == 120 and result.attrs["n_examples"] == 60


def naive_maximum(sentence: Sentence, relation: str, maps: np.ndarray, offsets: list) -> np.ndarray:
    """What each head of each layer gives to the links of a relation: a loop over all pairs of tokens."""
    best = np.zeros(maps.shape[:2])
    for word, head in enumerate(sentence.heads):
        if head and sentence.deprel[word].partition(":")[0] == relation:
            for query, (start, end) in enumerate(offsets):
                for key, (first, last) in enumerate(offsets):
                    looks = max(start, sentence.words[word][0]) < min(end, sentence.words[word][1])
                    seen = max(first, sentence.words[head - 1][0]) < min(last, sentence.words[head - 1][1])
                    if looks and seen and query != key:
                        best = np.maximum(best, maps[:, :, query, key])
    return best


def test_the_study_of_a_random_model_is_what_loops_over_eager_maps_find() -> None:
    sample = [example for example in read("sample") if len(example.sentences) == 1 and example.first[0].heads][:15]
    network, tokenizer = tiny_bert(), tiny_tokenizer()
    network.set_attn_implementation("eager")
    sums: dict[str, list] = {}
    for example in sample:
        (sentence,) = example.first
        encoding = tokenizer(sentence.text, return_offsets_mapping=True)
        if len(encoding["input_ids"]) <= 64:
            with torch.inference_mode():
                maps = network(input_ids=torch.tensor([encoding["input_ids"]]), output_attentions=True).attentions
            maps = torch.cat(maps).numpy()
            for relation in {label.partition(":")[0] for label in sentence.deprel} - {"root"}:
                its = naive_maximum(sentence, relation, maps, encoding["offset_mapping"])
                sums.setdefault(relation, []).append(its)
    result = study.run(headscope.wrap(tiny_bert(), tokenizer), corpus_of(sample), QUICK, untrained=False)
    assert set(sums) | {"all"} == set(result["relation"].values)
    for relation, values in sums.items():
        found = result["link_attention"].sel(relation=relation, direction="source_to_target")
        assert result["link_attention_n_examples"].sel(relation=relation) == len(values)
        np.testing.assert_allclose(found, np.mean(values, axis=0), atol=1e-5, err_msg=relation)


def test_frame_elements_are_filtered_as_the_paper_does(model: headscope.Model) -> None:
    words = TEXTS[0].split()
    near, far = Link("E", (0,), (1,), core=True), Link("E", (2,), (5,), core=True)
    spans = seen(TEXTS[0], 0).words
    made = [Example("near", (Sentence(TEXTS[0], spans, links=(near,)),))]
    made += [Example(f"far {number}", (Sentence(TEXTS[0], spans, links=(far,)),)) for number in range(3)]
    result = study.run(model, corpus_of(made), QUICK, untrained=False)
    assert result.attrs["n_examples"] == 3 and len(words) < 12
    assert json.loads(result.attrs["options"])["limits"] == "12,3,2"
    assert json.loads(result.attrs["skipped"]) == {"sentences with an element nearer than 2 words": 1}
    assert study.run(model, corpus_of(made), QUICK, untrained=False, limits="none").attrs["n_examples"] == 4
    with pytest.raises(HeadscopeError, match=r"no link is left by the limits 2,1,1 \(4 sentences of more than 2 words"):
        study.run(model, corpus_of(made), QUICK, limits="2,1,1")


def test_dependency_links_have_punctuation_apart(model: headscope.Model) -> None:
    tree = Sentence("cat saw .", ((0, 3), (4, 7), (8, 9)), heads=(2, 0, 2), deprel=("nsubj", "root", "punct"))
    result = study.run(model, corpus_of([Example("a", (tree,))] * 3), QUICK, untrained=False)
    values = result["link_attention"].sel(layer=1, head=2, direction="source_to_target")
    assert values.sel(relation="nsubj") > 0.999 and values.sel(relation="punct") < 0.5
    np.testing.assert_array_equal(values.sel(relation="all"), values.sel(relation="nsubj"))


def test_links_of_the_same_word_go_to_the_other_segment() -> None:
    pairs = [
        Example(str(number), (Sentence("the old cat ran"),), (Sentence("a dog saw the cat by night"),))
        for number in range(60)
    ]
    model = headscope.wrap(planted({(1, 2): looks_at_copies(), (2, 1): looks_at_offset(1)}), tiny_tokenizer())
    found = study.run(model, corpus_of(pairs), QUICK, links="same_word", untrained=False).sel(relation="same word")
    assert found["link_attention"].sel(layer=1, head=2).values == pytest.approx(0.5, abs=1e-3)
    assert [found[f"chosen_{name}"].item() for name in ("layer", "head")] == [1, 2]
    assert found["special"].sum("direction").values.tolist() == [[0, 3, 0, 0], [0] * 4]
    assert found["link_attention_n_examples"] == 60


def test_a_corpus_without_pairs_has_no_links_of_the_same_word() -> None:
    model = headscope.wrap(planted({}), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match="no pair of segments that share a word"):
        study.run(model, corpus_of([Example("1", (spaced("the cat the"),))]), QUICK, links="same_word")
