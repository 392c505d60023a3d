"""A classifier of acceptability judges the sentences of pairs; its numbers are those of loops over sentences."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForSequenceClassification

import headscope
from headscope import Settings
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.words.cloze.judging import judged, judgments
from support.planted_task import planted_classifier
from support.planted_words import causal_table
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

# The planted classifier accepts what has a bird.
PAIRS = [
    {"good": "the bird sat", "bad": "the cat sat", "condition": "licensed", "phenomenon": "npi"},
    {"good": "a bird saw it", "bad": ["a man saw it", "a bird saw it."], "condition": "licensed", "phenomenon": "npi"},
    {"good": "the dog ran", "bad": "the bird ran", "phenomenon": "turned"},
    {"sentence": "the [MASK] sat", "answer": "bird", "alternatives": "cat", "condition": "licensed",
     "phenomenon": "npi, word in the gap"},
]  # fmt: skip


def written(folder: Path, *records: dict[str, Any], name: str = "pairs.jsonl") -> str:
    (folder / name).write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return str(folder / name)


def run(suite: str, judge: Path) -> xr.Dataset:
    model = headscope.wrap(causal_table({("the", "bird"): 3.0}).network, tiny_tokenizer())
    return headscope.cloze(model, [suite], Settings(resamples=20), judge=str(judge), random=False, controls=False)


def test_what_is_planted_is_found_and_stands_beside_the_models_own_scores(tmp_path: Path) -> None:
    result = run(written(tmp_path, *PAIRS), save_tiny(tmp_path / "judge", planted_classifier()))
    values = {name: result[name].to_series().to_dict() for name in ("judged_pairs", "judged_both", "judged_sentences")}
    licensed, turned = "npi: licensed", "turned"
    assert values["judged_both"][licensed] == 0.5 and values["judged_sentences"][licensed] == (1 + 0.75) / 2
    assert [values[name][turned] for name in values] == [0, 0, 0]
    assert int(result["judged_pairs_n_examples"].sel(condition=licensed)) == 2
    (table,) = (table for table in study_page(result).tables() if table.name == "judgments")
    rows = {keys[0]: [cell and cell[0] for cell in cells] for keys, cells in table.rows}
    assert rows[licensed][1] == "100.0" and rows[turned] == [rows[turned][0], None, "0.0", "0.0", "0.0"]


def test_the_good_sentence_has_to_lead_all_worse_ones() -> None:
    columns = judged([np.array([1.0, -0.5, 2.0]), np.array([1.0, 0.5, -2.0])])
    assert columns["judged_pairs"].tolist() == [0, 1] and columns["judged_both"].tolist() == [0, 0]
    assert columns["judged_sentences"].tolist() == [0.75, 0.75]


def test_log_odds_are_those_of_single_sentences_whichever_label_comes_first(tmp_path: Path) -> None:
    (suite,) = read_suites([written(tmp_path, *PAIRS)])
    for first, sign in (("LABEL_0", 1), ("acceptable", -1)):
        network: Any = tiny_bert(5, BertForSequenceClassification, num_labels=2)
        network.config.id2label = {0: first, 1: "other"}
        columns = judgments(str(save_tiny(tmp_path / first, network)), suite.items, Settings())
        tokenizer, odds = tiny_tokenizer(), []
        for item in suite.items[:3]:
            with torch.no_grad():
                outputs = [network(**tokenizer(text.text, return_tensors="pt")).logits[0] for text in item.candidates]
            odds.append(sign * np.array([float(one[1] - one[0]) for one in outputs]))
        for name, values in judged(odds).items():
            np.testing.assert_array_equal(columns[name], [*values, np.nan])


def test_what_is_refused(tmp_path: Path) -> None:
    judge = save_tiny(tmp_path / "judge", planted_classifier())
    with pytest.raises(HeadscopeError, match="--judge: no item is a pair of sentences; name a suite"):
        run(written(tmp_path, PAIRS[3]), judge)
    for labels in (1, 3):
        other = save_tiny(tmp_path / f"{labels}", tiny_bert(0, BertForSequenceClassification, num_labels=labels))
        with pytest.raises(HeadscopeError, match=rf"outputs of shape \({labels},\) for a sentence, not two finite"):
            run(written(tmp_path, PAIRS[0]), other)


def test_the_critical_word_of_blimp_is_in_the_gap(tmp_path: Path) -> None:
    good = ("Only Ann ever sat.", "Even Ann really sat.", "Had Ann ever sat?", "Ann had met dogs.", "Ann sat.")
    bad = ("Even Ann ever sat.", "Even Ann ever sat.", "Ann had ever sat.", "Ann had met dog.", "Ann sat!")
    rows = [
        {"UID": "u", "pair_id": str(number), "linguistics_term": "npi", "sentence_good": one, "sentence_bad": other}
        for number, (one, other) in enumerate(zip(good, bad, strict=True))
    ]
    written(tmp_path, *rows, name="blimp.jsonl")
    (suite,) = read_suites(["blimp_words"], tmp_path)
    assert [(item.good.context, item.good.scored, item.bad[0].scored) for item in suite.items] == [
        ("[MASK] Ann ever sat.", "Only", "Even"),
        ("Even Ann [MASK] sat.", "really", "ever"),
        ("Ann had met [MASK].", "dogs", "dog"),
    ]
    assert {(item.phenomenon, item.condition) for item in suite.items} == {("npi, word in the gap", "u")}
    assert suite.skipped == {"pairs that do not differ in one word": 2}
