"""Shortcuts: a model of word overlap is found out, with its heads; random weights are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertConfig, BertForSequenceClassification

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora.tasks import Task, read
from headscope.papers import judge, read_papers
from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.study_page import study_page
from support.findings import all_texts_of
from support.planted_overlap import LABELS, overlap_model, overlap_tokenizer, vocabulary
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer

QUICK = Settings(resamples=100)
HEURISTICS = ("Lexical overlap", "Subsequence", "Constituent")


def ablated(network: Any, folder: Path, task: Task | None = None, **options: Any) -> xr.Dataset:
    model = headscope.wrap(network, overlap_tokenizer())
    task = task or read("shortcuts", limit=8)
    return headscope.ablate(model, task, QUICK, directory=folder, **options)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return ablated(overlap_model(), tmp_path_factory.mktemp("planted"), mode="zero")


def verdicts(result: xr.Dataset) -> dict[str, str | None]:
    return {finding.topic: finding.verdict for finding in study_page(result).highlights()}


def test_a_model_of_overlap_is_right_where_pairs_are_entailed_and_wrong_where_not(planted: xr.Dataset) -> None:
    for phenomenon, score in zip(planted["phenomenon"].values, planted["phenomenon_baseline"].values, strict=True):
        assert score == (0 if phenomenon.endswith("not entailed") and "other" not in phenomenon else 1), phenomenon
    cases = planted["case_score"]
    assert cases.sizes["case"] == 60  # 30 cases, and the same premises with other words
    assert set(np.unique(cases)) == {0, 1}


def test_the_page_says_so_and_names_both_heads(planted: xr.Dataset) -> None:
    found = verdicts(planted)
    for heuristic in HEURISTICS:
        assert found[f"{heuristic} is taken for entailment"] == "holds"
    carried = next(topic for topic in found if topic.endswith("follow a shortcut without a head"))
    assert found[carried] == "holds" and carried.startswith("In 6 cases")
    text = all_texts_of(planted)[carried]
    for part in ("lexical overlap, head 1-1", "constituent, head 2-1", "-100.0 points of the entailed"):
        assert part in text
    assert study_page(planted).figures()[0].name == "cases"


def claim_of_overlap(result: xr.Dataset) -> Judgement:
    papers = read_papers()
    model = MeasuredModel(("overlap",), "", (Source(Path("ablate/result.nc"), result),))
    (judgement,) = (one for one in judge(model, papers) if one.claim.id == "Q9")
    return judgement


def test_the_claim_of_the_paper_holds_and_a_model_that_always_says_yes_does_not_earn_it(
    planted: xr.Dataset, tmp_path: Path
) -> None:
    found = claim_of_overlap(planted)
    assert found.verdict == "holds" and found.test and found.test.value == 0 and found.test.baseline == 1
    network: Any = overlap_model()
    network.classifier.bias.data[0] = 9.0
    always = claim_of_overlap(ablated(network, tmp_path))
    assert always.verdict == "fails" and always.test and always.test.value == 0


def test_heads_that_do_nothing_carry_no_shortcut(planted: xr.Dataset) -> None:
    gains = planted["phenomenon_gain"].sel(head=2)
    assert float(abs(gains).max()) == 0


@pytest.mark.parametrize("seed", range(4))
def test_random_weights_follow_no_shortcut(seed: int, tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=len(vocabulary()), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=48, id2label=dict(enumerate(LABELS)),
    )  # fmt: skip
    result = ablated(tiny_network(config, seed, BertForSequenceClassification), tmp_path)
    assert "holds" not in verdicts(result).values()


def test_a_model_that_always_says_yes_follows_no_shortcut(tmp_path: Path) -> None:
    network: Any = overlap_model()
    network.classifier.bias.data[0] = 9.0
    assert not {"holds"} & set(verdicts(ablated(network, tmp_path)).values())


def test_a_model_without_an_output_that_says_yes_is_refused(tmp_path: Path) -> None:
    network = tiny_bert(0, BertForSequenceClassification)
    with pytest.raises(HeadscopeError, match="none of which says that a pair is entailed or the same"):
        headscope.ablate(headscope.wrap(network, tiny_tokenizer()), read("shortcuts"), QUICK, directory=tmp_path)
