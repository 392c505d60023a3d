"""Planted models have the accuracies that they must have; results name chance, baselines and what was left out."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForMaskedLM

import headscope
from headscope import Settings
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.passes.settings import PassJournal
from headscope.report.numbers import Numbers
from headscope.report.study_page import study_page
from headscope.results.variables import Variables
from headscope.studies.words.cloze import STUDY
from headscope.studies.words.cloze.controls import controlled
from headscope.studies.words.cloze.page import side_of
from headscope.studies.words.cloze.variables import add_by_group
from support.planted_words import SIZE, causal_table, copying_model
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20)
PAIRS = [
    {"id": "right", "good": "the cat sat", "bad": "the cat ran", "phenomenon": "known"},
    {"id": "wrong", "good": "the cat ran", "bad": "the cat sat", "phenomenon": "turned"},
    {"id": "equal", "good": "the dog saw", "bad": "the dog ran", "phenomenon": "equal"},
]
COPIES = [
    {"sentence": "the cat saw the cat and the [MASK].", "answer": "cat", "alternatives": ["dog", "bird"]},
    {"sentence": "a book is a [MASK].", "answer": "book", "alternatives": "tree", "condition": "one"},
    {"sentence": "the house is the [MASK].", "answer": "house", "phenomenon": "vocabulary"},
    {"sentence": "the house is the [MASK].", "answer": "housed", "phenomenon": "vocabulary"},
    {"sentence": "the house is the [MASK].", "answer": "slept", "alternatives": "sat", "phenomenon": "pieces"},
    {"good": "word " * 70, "bad": "a", "phenomenon": "long"},
    {"sentence": "the house is the [MASK].", "answer": "雨", "phenomenon": "vocabulary"},
]


def written(folder: Path, records: list[dict[str, Any]], name: str = "mine.jsonl") -> str:
    path = folder / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return str(path)


def scores_of(folder: Path) -> list[list[str]]:
    """The lines of items.csv."""
    return list(csv.reader((folder / "items.csv").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, Path]:
    folder = tmp_path_factory.mktemp("copied")
    return headscope.cloze(copying_model(), [written(folder, COPIES)], QUICK, directory=folder, items=True), folder  # type: ignore[return-value]


def test_causal_table_scores_by_hand(tmp_path: Path) -> None:
    model = causal_table({("cat", "sat"): 3.0, ("cat", "ran"): 1.0, ("[CLS]", "the"): 2.0})
    result = headscope.cloze(model, written(tmp_path, PAIRS), QUICK, directory=tmp_path, items=True, random=False)
    assert result["accuracy"].sel(phenomenon=["known", "turned", "equal"]).values.tolist() == [1, 0, 0.5]
    assert result["margin"].values == pytest.approx([2, -2, 0], abs=1e-4)
    rows = scores_of(tmp_path)
    assert rows[0] == ["id", "phenomenon", "score_good", "score_bad", "suite", "human"]
    assert [row[:2] for row in rows[1:]] == [["right", "known"], ["wrong", "turned"], ["equal", "equal"]]
    rest = [math.log(math.exp(2) + SIZE - 1), math.log(SIZE), math.log(math.exp(3) + math.exp(1) + SIZE - 2)]
    assert float(rows[1][2]) == pytest.approx(5 - sum(rest), abs=1e-4)
    assert float(rows[1][3]) == pytest.approx(3 - sum(rest), abs=1e-4)


def test_the_good_text_has_to_beat_all_others(tmp_path: Path) -> None:
    model = causal_table({("cat", "sat"): 3.0, ("cat", "ran"): 1.0, ("cat", "saw"): 4.0})
    sets = [["the cat ran", "the cat saw"], ["the cat saw", "the cat ran"], ["the cat ran", "the cat"]]
    pairs = [{"good": "the cat sat", "bad": bad, "phenomenon": str(number)} for number, bad in enumerate(sets)]
    options: dict[str, Any] = {"random": False, "controls": False}
    result = headscope.cloze(model, written(tmp_path, pairs), QUICK, **options)
    assert result["accuracy"].values.tolist() == [0, 0, 0]
    assert result["margin"].values[:2] == pytest.approx([-1, -1], abs=1e-4)


def test_items_of_a_lemma_are_resampled_together(tmp_path: Path) -> None:
    texts = ("the cat sat", "the cat ran")
    pairs = [
        {"good": good, "bad": bad, "lemma": lemma, "phenomenon": "one"}
        for lemma, (good, bad) in (("sat", texts), ("ran", texts[::-1]))
        for _ in range(16)
    ]
    options: dict[str, Any] = {"random": False, "controls": False}
    result = headscope.cloze(
        causal_table({("cat", "sat"): 3.0}), written(tmp_path, pairs), Settings(resamples=200), **options
    )
    assert float(result["accuracy_by_lemma"][0]) == float(result["accuracy"][0]) == 0.5
    assert result["accuracy_by_lemma_ci"].values.tolist() == [[0, 1]]
    assert 0.2 < float(result["accuracy_ci"][0, 0]) < 0.5 < float(result["accuracy_ci"][0, 1]) < 0.8


def test_model_that_copies_fills_gaps_with_what_it_has_read(copied: tuple[xr.Dataset, Path]) -> None:
    result, _ = copied
    assert float(result["accuracy"].sel(phenomenon="mine")) == 1
    assert result["chance"].sel(phenomenon=["mine", "vocabulary"]).values == pytest.approx(
        [(1 / 3 + 1 / 2) / 2, 1 / SIZE]
    )
    assert float(result["accuracy_by_condition"].sel(condition="mine: one")) == 1
    assert float(result["precision_at_10"].sel(phenomenon="vocabulary")) == 1
    assert np.isnan(result["precision_at_10"].sel(phenomenon="mine"))
    assert np.isnan(result["accuracy"].sel(phenomenon="long"))
    assert float(result["accuracy_control"].sel(phenomenon="mine", control="shuffled")) == 1


def test_what_is_left_out_is_counted_and_stays_in_items(copied: tuple[xr.Dataset, Path]) -> None:
    result, folder = copied
    assert json.loads(result.attrs["skipped"]) == {"long": 1, "answer outside the vocabulary": 2}
    assert json.loads(result.attrs["counted"]) == {"answers of several pieces": 1}
    rows = scores_of(folder)[1:]
    assert len(rows) == len(COPIES)
    assert [row[2] == "" for row in rows] == [False, False, False, True, False, True, True]


def test_items_with_the_same_id_in_two_suites_can_be_told_apart(tmp_path: Path) -> None:
    options: dict[str, Any] = {"random": False, "controls": False, "directory": tmp_path, "items": True}
    suites = [written(tmp_path, PAIRS, name) for name in ("one.jsonl", "two.jsonl")]
    headscope.cloze(causal_table({}), suites, QUICK, **options)
    header, *rows = scores_of(tmp_path)
    keys = {(row[header.index("suite")], row[header.index("id")]) for row in rows}
    assert len(keys) == len(rows) == 2 * len(PAIRS)


def test_items_of_an_earlier_run_do_not_stay(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("old")
    options: dict[str, Any] = {"random": False, "controls": False, "directory": tmp_path}
    headscope.cloze(causal_table({}), written(tmp_path, PAIRS), QUICK, **options)
    assert not (tmp_path / "items.csv").exists()


def test_page_says_what_is_chance(copied: tuple[xr.Dataset, Path], tmp_path: Path) -> None:
    ends = {"even": ("sat", "ran"), "known": ("sat", "ran"), "turned": ("ran", "sat")}
    pairs = []
    for number in range(8):
        for name, (one, other) in ends.items():
            one, other = (other, one) if name == "even" and number % 2 else (one, other)
            lemma = f"{name} {number}"
            pairs.append({"good": f"the cat {one}", "bad": f"the cat {other}", "phenomenon": name, "lemma": lemma})
    result = headscope.cloze(causal_table({("cat", "sat"): 3.0}), written(tmp_path, pairs), Settings(resamples=100))
    page = study_page(result)
    texts = {finding.topic.partition(":")[0]: finding.text for finding in [*page.highlights(), *page.findings()]}
    assert texts["1 of 3 phenomena not distinguishable from chance"].startswith("Even. ")
    assert "the wrong text is preferred in turned:" in texts["Below chance"]
    own, shuffled = (
        float(values.mean()) for values in (result["accuracy"], result["accuracy_control"].sel(control="shuffled"))
    )
    assert texts["Word order"].startswith(
        f"With shuffled words {shuffled:.1%} of items are right, with the words in order {own:.1%} "
        "(means over phenomena)."
    )
    assert "50.0%" in texts["Mine"] and "chance is 50%" in texts["Mine"]
    assert study_page(copied[0]).figures()[0].variable == "accuracy"


def test_words_without_order_are_chance_for_the_unigram_baseline(tmp_path: Path) -> None:
    pairs = [{"good": "the old cat saw a dog", "bad": "the cat old saw a dog"}]
    for unigrams in (None, "sample"):
        result = headscope.cloze(copying_model(), written(tmp_path, pairs), QUICK, random=False, unigrams=unigrams)
        assert float(result["accuracy_baseline"].sel(baseline="unigram").item()) == 0.5


def test_controls_keep_the_answer_and_the_words(tmp_path: Path) -> None:
    (suite,) = read_suites([written(tmp_path, [*COPIES[:1], *PAIRS[:1]])])
    gap, pair = controlled(suite.items, "shuffled", 0)
    assert gap.good.scored == "cat" and gap.bad[0].scored == "dog" and gap.good.context == gap.bad[0].context
    assert sorted(gap.good.text.split()) == sorted(suite.items[0].good.text.split())
    order = pair.good.text.split()
    assert (
        sorted(order) == ["cat", "sat", "the"]
        and [word.replace("ran", "sat") for word in pair.bad[0].text.split()] == order
    )
    gap, pair = controlled(suite.items, "truncated", 0)
    assert gap.good.text == "and the cat." and gap.good.scored == "cat" and gap.bad[1].text == "and the bird."
    assert pair.good.text == "the cat sat"


def test_built_in_model_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="'bert': it is a BertModel, without a head that predicts words"):
        headscope.cloze(headscope.wrap(tiny_bert(), tiny_tokenizer(), "bert"), written(tmp_path, PAIRS))
    assert save_tiny(tmp_path / "model", tiny_bert(0, BertForMaskedLM))
    result = headscope.cloze(tmp_path / "model", written(tmp_path, PAIRS), QUICK, controls=False)
    assert result.attrs["n_examples"] == 3


def test_suite_of_which_nothing_can_be_scored_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"no item can be scored \(1 long\)"):
        headscope.cloze(copying_model(), written(tmp_path, COPIES[5:6]))


def test_facts_without_names_that_give_the_answer_away_and_over_wordings(tmp_path: Path) -> None:
    facts = [("River and river", "river"), ("Tom", "house"), ("Eve", "Paris")]
    pairs = [{"predicate_id": "P19", "sub_label": subject, "obj_label": answer} for subject, answer in facts]
    source = written(tmp_path, pairs, "trex_pairs.jsonl")
    written(tmp_path, [{"relation": "P19", "template": "[X] is from [Y]."}], "relations.jsonl")
    patterns = [
        {"predicate_id": "P19", "pattern": pattern} for pattern in ("[X] is from [Y].", "[Y] is the home of [X].")
    ]
    suites = [source, written(tmp_path, patterns, "pararel_patterns.jsonl")]
    result = headscope.cloze(copying_model(), suites, QUICK, random=False, controls=False)
    one, several = (result.sel(phenomenon=name) for name in ("P19", "P19, several wordings"))
    assert json.loads(result.attrs["skipped"]) == {"answer outside the vocabulary": 3}
    assert float(one["accuracy"]) == float(several["accuracy"]) == 0.5
    assert float(one["accuracy_by_name_filter"].sel(name_filter="no string match")) == 0
    assert float(several["consistency"]) == 1 and np.isnan(one["consistency"])
    assert float(several["right_in_all"]) == 0.5
    assert int(several["consistency_n_examples"]) == 2
    texts = {finding.topic: finding.text for finding in study_page(result).findings()}
    assert "100.0%; 50.0%" in texts["Wordings"] and "0.0%" in texts["Facts from names"]


@pytest.mark.parametrize(
    ("value", "lemmas", "chance", "side"),
    [(1, 2, 0.5, 0), (1, 6, 0.5, 1), (0, 6, 0.5, -1), (0, 60, 1e-5, 0), (1, 1, 1e-5, 1)],
)
def test_items_that_are_all_right_or_all_wrong_are_tested(value: int, lemmas: int, chance: float, side: int) -> None:
    numbers = {name: ("phenomenon", [number]) for name, number in {
        "accuracy": value, "accuracy_by_lemma": value, "accuracy_by_lemma_n_examples": lemmas, "chance": chance
    }.items()}  # fmt: skip
    assert side_of(Numbers(xr.Dataset(numbers, {"phenomenon": ["a"]})), "a") == side


@pytest.fixture
def two_in_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard has two items."""
    monkeypatch.setattr("headscope.studies.words.cloze.scoring.ITEMS", 2)


def test_items_that_are_done_are_kept_and_the_run_goes_on(tmp_path: Path, two_in_a_shard: None) -> None:
    model = headscope.wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    source, notices, steps = written(tmp_path, PAIRS), list[str](), list[int]()

    def run(stop: int) -> xr.Dataset:
        def progress(done: int) -> None:
            steps.append(done)
            if len(steps) == stop:
                raise KeyboardInterrupt

        journal = PassJournal(tmp_path / "journal", {})
        settings = replace(
            QUICK, on_progress=progress, keep_interrupted=True, journal=journal, on_notice=notices.append
        )
        result = headscope.cloze(model, source, settings)
        steps.clear()
        return result

    first = run(3)  # a step for the checkpoint, and one for each shard
    assert first.attrs["interrupted"] == "after 2 of 3 items (the model)" and first.attrs["n_examples"] == 2
    assert first["phenomenon"].values.tolist() == ["known", "turned"] and "control" not in first.dims
    assert study_page(first).findings
    later = run(5)
    assert "resumes" in notices[-2] and later.attrs["interrupted"].endswith("(random weights)")
    assert later["baseline"].values.tolist() == ["unigram"] and later.attrs["n_examples"] == 3
    uninterrupted, again = headscope.cloze(model, source, QUICK), run(0)
    assert "interrupted" not in again.attrs
    xr.testing.assert_identical(uninterrupted.drop_attrs(deep=False), again.drop_attrs(deep=False))


def test_workers_have_the_scores_of_one_process(tmp_path: Path, two_in_a_shard: None) -> None:
    model = headscope.wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    source, rows = written(tmp_path, [*PAIRS, *COPIES]), []
    for workers in (1, 2, 3):
        settings, folder, done = replace(QUICK, workers=workers), tmp_path / str(workers), list[int]()
        settings = replace(settings, on_progress=done.append)
        headscope.cloze(model, source, settings, directory=folder, items=True, random=False, controls=False)
        rows.append(scores_of(folder))
        assert sum(done) == 18
    assert rows[0] == rows[1] == rows[2] and len(rows[0]) == 11


def test_all_right_of_few_items_is_no_certainty() -> None:
    variables = Variables({}, STUDY.source, STUDY.labels)
    columns = {"accuracy": np.ones(40), "accuracy_by_lemma": np.zeros(40), "margin": np.ones(40)}
    add_by_group(variables, columns, np.zeros(40, int), Settings())
    (least, right), (wrong, most), plain = (variables.arrays[f"{name}_ci"].values[0] for name in columns)
    assert least == pytest.approx(0.025 ** (1 / 40), abs=0.02) and right == 1
    assert wrong == 0 and most == pytest.approx(1 - least)
    assert plain.tolist() == [1, 1]


ATTRACTED = {"0 attractors": [("cat", "sat"), ("dog", "ran")], "1 attractor": [("cat dog", "sat"), ("dog cat", "ran")]}


@pytest.mark.parametrize(
    ("known", "accuracy"), [({("cat", "sat"): 3.0, ("dog", "ran"): 3.0}, [1, 0]), ({}, [0.5, 0.5])]
)
def test_model_that_agrees_with_the_nearest_noun_fails_at_attractors(
    tmp_path: Path, known: dict[tuple[str, str], float], accuracy: list[float]
) -> None:
    """A treebank in which "cat" and "sat" are singular, "dog" and "ran" plural; a model without a rule ties."""
    lines = []
    for nouns, verb in [pair for pairs in ATTRACTED.values() for pair in pairs]:
        words, at = nouns.split(), len(nouns.split()) + 1
        relations = ("nsubj", "nmod")
        for number, word in enumerate(words, 1):
            head = at if number == 1 else 1
            features = f"Number={'Sing' if word == 'cat' else 'Plur'}"
            lines.append(f"{number}\t{word}\t{word}\tNOUN\t_\t{features}\t{head}\t{relations[number - 1]}\t_\t_")
        features = f"Number={'Sing' if verb == 'sat' else 'Plur'}|VerbForm=Fin"
        lines += [f"{at}\t{verb}\tsit\tVERB\t_\t{features}\t0\troot\t_\t_", ""]
    (tmp_path / "bank.conllu").write_text("\n".join(lines) + "\n")
    result = headscope.cloze(causal_table(known), tmp_path / "bank.conllu", QUICK, random=False, controls=False)
    assert result["condition"].values.tolist() == [f"agreement in text: {condition}" for condition in ATTRACTED]
    assert result["accuracy_by_condition"].values.tolist() == accuracy
    assert result["baseline_by_condition"].sel(baseline="unigram").values.tolist() == [0.5, 0.5]


def test_items_have_what_people_write(tmp_path: Path) -> None:
    head = "item\tcontext\texp\texp_cloze\ttarget\ttgt_cloze\ttgt_cloze(strict)\n"
    lines = [f"1-{side}\tthe {noun} had\tx\t0\tran\t{share}\t0\n" for side, noun, share in
             (("a", "cat", 0.75), ("b", "dog", 0.25))]  # fmt: skip
    (tmp_path / "ROLE-88.tsv").write_text(head + "".join(lines), encoding="utf-8")
    source, options = str(tmp_path / "ROLE-88.tsv"), {"random": False, "controls": False, "items": True}
    headscope.cloze(causal_table({}), source, QUICK, directory=tmp_path, **options)
    assert [row[-1] for row in scores_of(tmp_path)] == ["human", "0.500000"]
