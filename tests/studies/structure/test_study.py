"""Planted states that hold the trees are read without an error, and layers are chosen on held-out sentences."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import PreTrainedModel

import headscope
from headscope import Settings
from headscope.encoding.parsed_sentences import Parsed
from headscope.errors import HeadscopeError
from headscope.front.cli.terminal import print_result
from headscope.linguistics.sentence import Example
from headscope.report import write
from headscope.report.facts import summary
from headscope.report.study_page import study_page
from headscope.studies.layers.structure.train import ProbeRecipe, fit
from headscope.studies.layers.structure.treebank_states import TreebankStates
from support.made_inputs import corpus_of
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK
from support.runs import structure as run
from support.tiny import tiny_bert, tiny_tokenizer

# The edge of each word to its head; verbs are roots and have none. The head of a stop or comma is the verb.
PARENTS = {**DETERMINERS, **SUBJECTS, **ADJECTIVES, ".": "saw", ",": "saw"}
WIDTH = 2 * len(PARENTS)


def path(word: str) -> list[str]:
    """The words whose edges lie between a word and its root."""
    return [word, *path(PARENTS[word])] if word in PARENTS else []


def tree_states(seed: int = 0) -> PreTrainedModel:
    """One layer that changes nothing, on embeddings with two numbers for each edge: (1, 0) on the path, else (0, 1).

    All embeddings have the same mean and spread, so that layer normalisation keeps distances.
    """
    network = tiny_bert(seed, num_hidden_layers=1, num_attention_heads=2, hidden_size=WIDTH, intermediate_size=8)
    vocabulary, edges = tiny_tokenizer().get_vocab(), list(PARENTS)
    table: torch.Tensor = network.get_input_embeddings().get_parameter("weight")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for module in network.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1)
        for word in {*PARENTS, *PARENTS.values()}:
            on_path = torch.tensor([edge in path(word) for edge in edges], dtype=torch.float32)
            table[vocabulary[word]] = torch.cat([on_path, 1 - on_path])
    return network


QUICK = Settings(resamples=20, batch_tokens=200)
FAST: dict[str, Any] = {"rank": "32", "epochs": 11, "batch": 8, "learning_rate": 0.01}
SCORES = ("uuas", "root_accuracy", "distance_spearman", "norm_spearman")


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tree_states(), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return run(model, TREEBANK, QUICK, training=TREEBANK, **FAST)


def test_states_that_hold_the_trees_are_read_without_an_error(result: xr.Dataset) -> None:
    for name in ("uuas", "root_accuracy"):
        assert result[name].item() == result[f"{name}_baseline"].sel(baseline="embeddings").item() == 1
    for name in ("distance_spearman", "norm_spearman"):  # gold values have ties, predicted ones have none
        assert result[name].item() > 0.9


def test_distances_of_planted_states_are_learned_to_a_tenth_of_an_edge(result: xr.Dataset) -> None:
    assert (result["held_out_loss"] < 0.1).all()


def test_random_weights_and_the_order_of_words_are_far_from_it(result: xr.Dataset) -> None:
    assert result["uuas_random"].item() < 0.98 and result["uuas_baseline"].sel(baseline="linear") < 0.9
    assert result["uuas_gain"].item() == pytest.approx(1 - result["uuas_random"].item())


@pytest.mark.parametrize("length", [1e-2, 1e4])
def test_states_of_any_length_are_read_alike(length: float) -> None:
    words, heads = np.arange(6), np.array([0, 1, 1, 3, 3, 5])
    parsed = [Parsed(0, 0, 0, words, tuple("abcdef"), heads, np.array(["dep"] * 6), ()) for _ in range(12)]
    arrays = [torch.randn(1, 6, 4, generator=torch.Generator().manual_seed(number)) for number in range(12)]
    recipe = ProbeRecipe(rank="2", learning_rate=0.01, batch=4, epochs=2, held_out=0.2)
    maps = []
    for times in (1.0, length):
        states = TreebankStates(parsed, [times * array for array in arrays])
        maps.append(times * fit(states, recipe, 0, torch.device("cpu")).maps["distance"])
    torch.testing.assert_close(maps[0], maps[1], rtol=1e-4, atol=1e-5)


def test_dimensions_and_cases(result: xr.Dataset) -> None:
    assert result["uuas"].dims == ("layer",) and result["layer"].values.tolist() == [1]
    edges = sum(sum(relation != "punct" for relation in example.first[0].deprel) - 1 for example in TREEBANK)
    assert int(result["uuas_n_examples"]) == edges
    assert int(result["root_accuracy_n_examples"]) == len(list(TREEBANK))
    assert int(result["distance_spearman_n_examples"]) == sum(len(example.first[0].words) >= 5 for example in TREEBANK)


def test_a_run_is_repeated_to_the_bit_whatever_lies_on_disk(model: headscope.Model) -> None:
    short: dict[str, Any] = FAST | {"epochs": 1, "random": False}
    one, other = (run(model, TREEBANK, QUICK, memory=memory, **short) for memory in (4, 0))
    assert json.loads(other.attrs["state_bytes"])["on_disk"] > 0 == json.loads(other.attrs["state_bytes"])["in_memory"]
    xr.testing.assert_equal(one, other)


def test_without_a_training_treebank_every_fifth_sentence_is_tested(model: headscope.Model) -> None:
    result = run(model, TREEBANK, QUICK, **{**FAST, "epochs": 1, "random": False})
    assert result.attrs["test_sentences"] == 12
    assert json.loads(result.attrs["training"])["sentences"] == 48


def test_ranks_are_scored_on_held_out_sentences_and_drawn(model: headscope.Model) -> None:
    several: dict[str, Any] = FAST | {"epochs": 3, "random": False}
    ranks = {rank: run(model, TREEBANK, QUICK, **{**several, "rank": rank}) for rank in ("32", "32,1")}
    swept, alone = ranks["32,1"], ranks["32"]
    assert (swept["rank"] == 32).all() and "uuas_by_rank" not in alone
    assert swept["uuas_by_rank"].dims == ("probe_rank", "layer") and swept["probe_rank"].values.tolist() == [1, 32]
    np.testing.assert_allclose(swept["held_out_loss"], alone["held_out_loss"], rtol=1e-4)
    assert swept["uuas_by_rank"].sel(probe_rank=32).item() == swept["held_out_uuas"].item() == alone["held_out_uuas"]
    assert swept["uuas_by_rank"].sel(probe_rank=1) < swept["uuas_by_rank"].sel(probe_rank=32)
    figures = {figure.name: figure for figure in study_page(swept).figures()}
    assert {f"{name}_by_rank" for name in SCORES} <= set(figures)
    assert "probe rank from 1 to 32" in figures["uuas_by_rank"].chart.to_dict()["description"]


def test_the_layer_of_the_page_is_chosen_on_held_out_sentences() -> None:
    network = tiny_bert(num_hidden_layers=3)
    once: dict[str, Any] = FAST | {"epochs": 1, "random": False}
    result = run(headscope.wrap(network, tiny_tokenizer()), TREEBANK, QUICK, **once)
    assert result.attrs["chosen_layer"] == int(result["held_out_uuas"].idxmax())


@pytest.mark.parametrize("rank", ["0", "-3", "", "x", "8,", "8;16", "1000000"])
def test_a_rank_that_is_none_is_refused(model: headscope.Model, rank: str) -> None:
    with pytest.raises(HeadscopeError, match="use a number from 1 to 4096, or several such as 16,64,128"):
        run(model, TREEBANK, QUICK, rank=rank)


def test_too_few_sentences_are_refused(model: headscope.Model) -> None:
    few = list(TREEBANK)[:3]
    with pytest.raises(HeadscopeError, match="too few"):
        run(model, corpus_of(few), QUICK)
    with pytest.raises(HeadscopeError, match="too few to hold some out"):
        run(model, corpus_of(few), QUICK, training=corpus_of(few))


def test_the_report_has_the_edges_of_the_trees_as_tables(result: xr.Dataset, tmp_path: Path) -> None:
    page = write(result, tmp_path, formats=()).read_text()
    assert page.count("Edges of the trees</caption>") == len(json.loads(result.attrs["trees"])) > 0


def test_trees_of_the_page_are_those_of_the_layer(result: xr.Dataset) -> None:
    trees = json.loads(result.attrs["trees"])
    assert len(trees) == 3 and all(tree["gold"] == tree["predicted"] for tree in trees)
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert set(figures) == {*SCORES, "tree-1", "tree-2", "tree-3"}
    words = figures["tree-1"].chart.to_dict()["description"]
    assert words.startswith(" ".join(trees[0]["words"])) and "are predicted" in words


def test_the_page_has_the_scores_of_the_chosen_layer(result: xr.Dataset) -> None:
    page = study_page(result)
    (text,) = (finding.text for finding in page.highlights() if finding.text.startswith("A linear map"))
    assert text.startswith("A linear map of layer 1 gives 100% of the edges of the trees")
    table = page.tables()[0]
    labels, cells = table.rows[0]
    assert labels == ("layer 1",) and [cell and cell[0] for cell in cells[:2]] == ["100.0", "100.0"]
    for name in ("uuas", "root_accuracy"):  # n of n has a bound
        lower, upper = result[f"{name}_ci"].sel(layer=1).values.ravel()[:2]
        assert 0.8 < lower < upper == 1
    assert [keys[0] for keys, _ in table.rows][-1] == "Order of the words (paper)"


def altered(result: xr.Dataset, base: float, random: float) -> dict[str, str | None]:
    """The verdicts of a page whose layer gives 60% of the edges, by title."""
    scores = {"uuas": 0.6, "uuas_baseline": base, "root_accuracy": 0.6, "root_accuracy_baseline": base}
    other = result.assign({name: result[name] * 0 + value for name, value in scores.items()})
    for name, value in scores.items():
        bounds = xr.DataArray([value - 0.02, value + 0.02], dims="bound")
        other[f"{name}_ci"] = result[f"{name}_ci"].fillna(0) * 0 + bounds
    other["uuas_random_by_seed"] = result["uuas_random_by_seed"] * 0 + random
    return {finding.topic: finding.verdict for finding in study_page(other).highlights()}


def test_titles_say_what_intervals_say(result: xr.Dataset) -> None:
    assert result["uuas_random_by_seed"].sizes["seed"] == 3
    planted, null, close = altered(result, 0.4, 0.3), altered(result, 0.7, 0.7), altered(result, 0.6, 0.59)
    assert {"Trees are clearest in layer 1", "60% of the roots are found"} <= planted.keys()
    assert planted["Syntax in hidden states comes from training"] == "holds"
    assert null["No layer has more of the trees than a baseline"] == "fails"
    assert null["Syntax in hidden states: random weights do as well"] == "fails"
    assert close["Too few sentences to tell a layer from a baseline"] == "undecided"


def test_layers_that_cannot_be_told_apart_are_named_together(result: xr.Dataset) -> None:
    layers = [1, 2, 3]
    values = xr.DataArray([0.6, 0.59, 0.4], {"layer": layers}, ["layer"])
    other = xr.Dataset({name: array for name, array in result.items() if "layer" not in array.dims}, attrs=result.attrs)
    for name in ("uuas", "root_accuracy", "distance_spearman", "norm_spearman"):
        other[name] = values
        other[f"{name}_ci"] = values + xr.DataArray([-0.02, 0.02], {"bound": ["lower", "upper"]}, ["bound"])
        other[f"{name}_baseline_ci"] = result[f"{name}_baseline_ci"] * 0 + 0.3
        other[f"{name}_baseline"] = result[f"{name}_baseline"] * 0 + 0.3
    topics = [finding.topic for finding in study_page(other).highlights()]
    assert "Trees are clearest in layers 1 and 2" in topics and "The last layer holds less" in topics


def test_documents_are_resampled_as_a_whole(model: headscope.Model) -> None:
    """Every other document has the trees that the states hold; the trees of the others are chains."""
    sentence = next(iter(TREEBANK)).first[0]
    chain = replace(sentence, heads=(0, 1, 2, 3))
    kinds = [replace((sentence, chain)[n // 12 % 2], document=f"d{n // 12}") for n in range(120)]
    corpus = corpus_of([Example(str(n), (kind,)) for n, kind in enumerate(kinds)])
    widths = []
    for documents in (0, 10):
        tested = replace(corpus, n_documents=documents)
        once: dict[str, Any] = FAST | {"epochs": 1, "rank": "4", "random": False}
        result = run(model, tested, Settings(resamples=200), training=TREEBANK, **once)
        bounds = result["uuas_baseline_ci"].sel(baseline="linear")
        widths.append(float(bounds.sel(bound="upper") - bounds.sel(bound="lower")))
    assert widths[1] > 2 * widths[0] > 0


def test_one_sentence_tells_nothing(model: headscope.Model) -> None:
    one = corpus_of(list(TREEBANK)[:1])
    result = run(model, one, QUICK, training=TREEBANK, **FAST, random=False)
    findings = study_page(result).highlights()
    assert {finding.verdict for finding in findings if finding.claim} == {"undecided"}


def test_samples_of_many_sentences_are_read_and_terminal_and_page_say_so(
    model: headscope.Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("headscope.studies.layers.structure.study.TRAINED", 20)
    monkeypatch.setattr("headscope.passes.captured_treebanks.TESTED", 30)
    once: dict[str, Any] = FAST | {"epochs": 1, "random": False}
    for full, trained, tested in ((False, 20, 30), (True, 60, 60)):
        result = run(model, TREEBANK, QUICK, training=TREEBANK, full=full, **once)
        assert json.loads(result.attrs["training"])["sentences"] == trained
        assert result.attrs["test_sentences"] == tested
        print_result(result)
        said, on_page = capsys.readouterr().out, dict(summary(result)).get("Read in part", "")
        assert ("read in part: " in said) is (not full) is bool(on_page)
        left = "20 of 60 sentences of 'made' and 30 of 60 sentences of 'made' are read, drawn by the seed"
        assert full or (left in said and "--full reads all, in some 2.4 times the time" in on_page)
