"""Special heads of other results, pairs, one head of a layer: planted answers, and random labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

from headscope import HeadscopeError, Settings, results, wrap
from headscope.corpora.tasks import score
from headscope.models.heads import parse
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.study_page import study_page
from headscope.statistics.split_half import split_in_half
from headscope.studies.size.ablate.gains import Gains
from headscope.studies.size.ablate.head_pairs import pairs_of
from headscope.studies.size.ablate.one_head import variables as one_head
from headscope.studies.size.ablate.special_heads import special_heads
from support.marked_result import ATTRIBUTES, marked
from support.planted import PIECES, WIDTH, looks_at_piece, planted
from support.planted_task import DECIDES, PIECE, SEEN, planted_classifier, planted_task
from support.runs import ablate as run
from support.tiny import tiny_tokenizer

SETTINGS, COUNTS = Settings(resamples=100), (4, 4)


def twins() -> Any:
    """Heads 1-2 and 2-3 both see the bird, and either is enough."""
    network: Any = planted_classifier(DECIDES)
    both = planted({DECIDES: looks_at_piece(PIECE), (1, 2): looks_at_piece(PIECE)}, 2).state_dict()
    noisy = network.bert.encoder.layer
    weights = {
        name: value.clone()
        for name, value in network.bert.state_dict().items()
        if "attention.self.value.weight" in name or "attention.output.dense.weight" in name or "pooler" in name
    }
    network.bert.load_state_dict(both | weights)
    with torch.no_grad():
        attention, head = noisy[0].attention, slice(WIDTH, 2 * WIDTH)
        attention.self.value.weight[head], attention.output.dense.weight[:, head] = 0, 0
        attention.self.value.weight[WIDTH, PIECES[PIECE]] = 1
        attention.output.dense.weight[list(SEEN), WIDTH] = torch.tensor([0.5, -0.5])
    return network


def on_card(result: xr.Dataset, layer: int, head: int) -> dict[str, str]:
    (part,) = Card(model_of(result), layer, head).parts
    return {finding.topic: finding.text for finding in part.findings}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    folder = tmp_path_factory.mktemp("asked")
    sources = [marked(folder / "knows", DECIDES), marked(folder / "else", (1, 1), (2, 1))]
    model = wrap(planted_classifier(), tiny_tokenizer())
    return run(
        model, planted_task(), SETTINGS, directory=folder / "out", heads=["1-1"], heads_of=sources, draws=30,
        pairs="all", one_head=True, skip_layers=True, importance=False, beside=sources,
    )  # fmt: skip


def topics(result: xr.Dataset) -> dict[str, str | None]:
    page = study_page(result)
    return {finding.topic: finding.verdict for finding in (*page.highlights(), *page.findings())}


def test_a_marked_head_that_decides_is_needed_more_than_others(found: xr.Dataset) -> None:
    accuracy = found.sel(metric="accuracy")
    assert found["head_source"].values.tolist() == ["ablate", "ablate (else)"]
    assert accuracy["special_gain"].values.tolist() == [-0.5, 0.0] and found["special_heads"].values.tolist() == [1, 2]
    # Of random heads of layer 2, one in four decides.
    assert -0.25 < accuracy["special_random_gain"].values[0] < -0.03
    p = accuracy["special_p_value"].values
    hits = round(float(-accuracy["special_random_gain"][0]) * 30 / 0.5)
    assert p[0] == pytest.approx((1 + hits) / 31) and p[1] == 1
    # The named set is one of its own.
    assert found["head_set"].values.tolist() == ["1-1"] and accuracy["set_score"].item() == 1


def test_heads_of_tasks_that_need_the_same_one_are_shared(found: xr.Dataset) -> None:
    accuracy = found.sel(metric="accuracy")
    assert found["other_task"].values.tolist() == ["other (knows)", "other (else)"]
    # One head of eight is at the top, the same in the first; over heads all other losses are ties.
    assert accuracy["shared_heads"].values.tolist() == [1, 0] and found["shared_heads_expected"][0].item() == 1 / 8
    assert accuracy["shared_heads_p_value"].values.tolist() == [pytest.approx(1 / 8), 1]
    assert accuracy["task_correlation"].values[0] == 1 and accuracy["task_correlation"].values[1] < 0
    assert bool(found["task_correlation"].sel(metric="f1").isnull().all())


def test_pages_say_what_the_tests_gave(found: xr.Dataset) -> None:
    verdicts = topics(found)
    assert verdicts["The heads of ablate cost 0.010 of accuracy or more"] == "fails"
    assert [verdict for topic, verdict in verdicts.items() if topic.startswith("The heads of ablate (else)")] == [
        "undecided"
    ]
    assert verdicts["No two heads are shown to replace each other"] == "undecided"  # none did, of 40 examples
    enough = next(topic for topic in verdicts if "one head is enough" in topic)
    assert verdicts[enough] == "undecided"  # 40 examples
    names = [table.name for table in study_page(found).tables()]
    assert names == ["heads", "layers", "special", "pairs", "parts", "published"]


def test_a_head_that_is_enough_alone_is_named_on_its_card_and_in_the_table(found: xr.Dataset) -> None:
    layer, head = DECIDES
    assert found["one_head"].sel(layer=layer, metric="accuracy").values.tolist() == [head, head]
    text = on_card(found, layer, head)["As the only head of its layer"]
    gain = float(found["one_head_gain"].sel(layer=layer, metric="accuracy"))
    assert text.startswith("It is the best one by both halves of the examples.") and f"by {gain:.0f}" in text
    others = [on_card(found, layer, other) for other in range(1, 5) if other != head]
    assert not any("As the only head of its layer" in topics for topics in others)
    parts = next(table for table in study_page(found).tables() if table.name == "parts")
    assert parts.columns[0].words == "Heads" and parts.rows[layer - 1][1][0] == (f"{layer}-{head}", "")


def test_sets_have_the_scores_of_sets_that_are_named(found: xr.Dataset, tmp_path: Path) -> None:
    names = found["head_pair"].values[:4].tolist()
    model = wrap(planted_classifier(), tiny_tokenizer())
    named = run(model, planted_task(), SETTINGS, directory=tmp_path, heads=names, importance=False)
    np.testing.assert_allclose(named["set_gain"], found["pair_gain"][:4], atol=1e-6)
    single = found["head_gain"].values.reshape(8, -1)
    expected = single[[0, 0, 0, 0]] + single[[1, 2, 3, 4]] - found["pair_gain"].values[:4]
    np.testing.assert_allclose(found["pair_excess"][:4], expected, atol=1e-6)


def test_pairs_that_lose_nothing_together_may_lose_what_so_few_examples_allow(found: xr.Dataset) -> None:
    """None of 40 examples is lost beyond the sum: up to 9% may be, each by two answers."""
    bounds, most = found["pair_excess_ci"].sel(metric="accuracy"), 2 * (1 - 0.025 ** (1 / 40))
    np.testing.assert_allclose(bounds[0], [-most, most])
    assert (bounds.sel(bound="lower") < 0).all() and (bounds.sel(bound="upper") > 0).all()
    assert found["mean_pair_excess_ci"].sel(metric="accuracy", bound="upper") > 0


def test_heads_that_replace_each_other_are_found(tmp_path: Path) -> None:
    model = wrap(twins(), tiny_tokenizer())
    result = run(model, planted_task(120), SETTINGS, directory=tmp_path, pairs="all", importance=False)
    accuracy = result.sel(metric="accuracy")
    assert accuracy["baseline"].item() == 1 and (accuracy["head_gain"] == 0).all()
    excess = accuracy["pair_excess"]
    assert excess.sel(head_pair="1-2,2-3").item() == 0.5 and (excess != 0).sum() == 1
    assert topics(result)["The heads of 1 pair replace each other"] == "holds"
    one, other = (on_card(result, *head)["Replaced by another head"] for head in ((1, 2), (1, 1)))
    assert one.startswith("1 of 7 pairs with it clearly lose more accuracy together") and "(q < 0.05, corrected" in one
    assert "Most beyond the sum: heads 1-2 and 2-3, +0.50 [" in one and other.startswith("0 of 7 pairs")


def test_alike_heads_of_clusters_come_first(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    distances = random.random((2, 4, 2, 4))
    distances = distances + distances.transpose(2, 3, 0, 1)
    distances[0, 1, 1, 2] = distances[1, 2, 0, 1] = 0.01
    dims = ("layer", "head", "other_layer", "other_head")
    at = {dim: np.arange(1, size + 1) for dim, size in zip(dims, distances.shape, strict=True)}
    array = xr.DataArray(distances, at, dims, attrs={"long_name": "distance", "units": "nats", "source": "made"})
    results.save(xr.Dataset({"divergence": array}, attrs=ATTRIBUTES | {"study": "clusters"}), tmp_path)
    first, *others = pairs_of(str(tmp_path), COUNTS, 5, 0)
    assert np.array_equal(first, parse("1-2,2-3", COUNTS)) and len(others) == 4
    with pytest.raises(HeadscopeError, match="other heads"):
        pairs_of(str(tmp_path), (4, 3), 5, 0)
    assert len(pairs_of("all", COUNTS, 99, 0)) == 28


def test_one_head_is_chosen_on_one_half_and_scored_on_the_other() -> None:
    random = np.random.default_rng(0)
    targets = random.integers(2, size=40).astype(float)
    alone = random.standard_normal((2, 4, 40, 2)).astype(np.float32)
    gains = Gains(["accuracy"], alone[:1, 0], random.standard_normal((40, 2)), targets, list(range(40)), 0, 50)
    made = one_head(alone, gains, COUNTS, classes=True)
    half = split_in_half(40, 0)
    for layer in range(2):
        right = 0
        for own, other in ((half, ~half), (~half, half)):
            scores = [score("accuracy", alone[layer, head][None, other], targets[other])[0] for head in range(4)]
            right += int((alone[layer, int(np.argmax(scores))][own].argmax(-1) == targets[own]).sum())
        before = float((gains.before.argmax(-1) == targets).mean())
        assert made["one_head_gain"][layer, 0].item() == pytest.approx(right / 40 - before)


def test_random_labels_give_no_claim(tmp_path: Path) -> None:
    def verdicts() -> Iterator[str | None]:
        for seed in range(3):
            task = planted_task(60)
            random, labels = np.random.default_rng(seed), task.labels
            examples = [
                type(example)(example.id, example.sentences, label=labels[random.integers(2)]) for example in task.dev
            ]
            dev = type(task.dev)("dev", f"{seed:064x}", len(examples), {}, lambda examples=examples: iter(examples))
            shuffled = type(task)(name="noise", kind="classification", labels=labels, metrics=("accuracy",), dev=dev)
            source = marked(tmp_path / f"{seed}", DECIDES)
            result = run(
                wrap(planted_classifier(), tiny_tokenizer()), shuffled, SETTINGS, directory=tmp_path / f"out{seed}",
                heads_of=[source], draws=20, pairs="all", one_head=True, importance=False,
            )  # fmt: skip
            yield from (finding.verdict for finding in study_page(result).highlights())

    assert "holds" not in list(verdicts())


def test_results_that_mark_no_head_or_others_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="marks no head as special; leave it out of --heads-of"):
        special_heads([marked(tmp_path / "none")], COUNTS, 2, 0)
    with pytest.raises(HeadscopeError, match="marks head 2-4, which the model does not have"):
        special_heads([marked(tmp_path / "big", (2, 4))], (4, 3), 2, 0)
    with pytest.raises(HeadscopeError, match="marks no head as same word; leave it out"):
        special_heads([f"{tmp_path / 'big'}:same word"], COUNTS, 2, 0)
    with pytest.raises(HeadscopeError, match="of ablate has no highest heads; name one of relations"):
        special_heads([f"{tmp_path / 'big'}:highest"], COUNTS, 2, 0)
    with pytest.raises(HeadscopeError, match="no kind of heads 'neded'; did you mean 'needed'"):
        special_heads([f"{tmp_path / 'big'}:neded"], COUNTS, 2, 0)
    with pytest.raises(HeadscopeError, match=r"^(?!.*kind of heads)"):
        special_heads(["hf://someone/results"], COUNTS, 2, 0)
    (one,) = special_heads([marked(tmp_path / "all", (1, 1), (2, 2), (2, 3))], COUNTS, 5, 0)
    assert all(drawn.sum(1).tolist() == [1, 2] for drawn in one.random)


def test_heads_of_one_kind_are_those_that_the_result_marks_so(tmp_path: Path) -> None:
    folder = marked(tmp_path / "needed", (1, 1), (2, 3))
    alone, of_kind = special_heads([folder, f"{folder}:needed"], COUNTS, 2, 0)
    assert (alone.name, of_kind.name) == ("ablate", "ablate: needed")
    assert np.argwhere(of_kind.heads).tolist() == np.argwhere(alone.heads).tolist() == [[0, 0], [1, 2]]


def test_of_relations_without_a_special_head_the_highest_heads_may_be_named(tmp_path: Path) -> None:
    dims = ("layer", "head", "relation", "direction")
    at = {"layer": [1, 2], "head": [1, 2, 3, 4], "relation": ["all"], "direction": ["source_to_target"]}
    links = np.full((2, 4, 1, 1), 0.1)
    links[1, 2] = 0.4
    texts = {"long_name": "attention", "units": "share", "source": "made"}
    arrays = {
        "link_attention": xr.DataArray(links, at, dims, attrs=texts),
        "percentile": xr.DataArray([[0.38]], {dim: at[dim] for dim in dims[2:]}, dims[2:], attrs=texts),
        "special": xr.DataArray(np.zeros((2, 4, 1, 1)), at, dims, attrs=texts),
    }
    results.save(xr.Dataset(arrays, attrs=ATTRIBUTES | {"study": "relations"}), tmp_path)
    (found,) = special_heads([f"{tmp_path}:highest"], COUNTS, 3, 0)
    assert found.name == "relations: highest" and np.argwhere(found.heads).tolist() == [[1, 2]]
    with pytest.raises(HeadscopeError, match=r"no head as special; leave it out of --heads-of, or name '.*:highest'"):
        special_heads([str(tmp_path)], COUNTS, 3, 0)
