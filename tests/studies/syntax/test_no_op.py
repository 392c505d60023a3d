"""A head that looks at [SEP] where its relation does not apply is found; one that does not look there is not."""

from functools import partial
from random import Random

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.report.study_page import study_page
from headscope.statistics.bootstrap import paired_means
from headscope.studies.heads.syntax.scores import HeadPredictions, applies
from support import claim_texts as texts
from support.planted import CERTAIN, HIDDEN, PIECES, WIDTH, Head, looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS
from support.tiny import tiny_tokenizer


def looks_or_rests(pairs: dict[str, str]) -> Head:
    """Words of the mapping look at what they are mapped to, all others at [SEP]."""
    query, key = looks_from_to(pairs)
    row = WIDTH - 1
    query, key = query.clone(), key.clone()
    query[row, : len(PIECES)] = CERTAIN
    for word in pairs:
        query[row, PIECES[word]] = 0
    key[row] = torch.zeros(HIDDEN)
    key[row, PIECES["[SEP]"]] = 1
    return Head(query, key)


def run(head: Head) -> xr.Dataset:
    model = headscope.wrap(planted({(1, 2): head}), tiny_tokenizer())
    return headscope.syntax(model, texts.treebank(0, 120), Settings(resamples=100))


@pytest.fixture(scope="module")
def resting() -> xr.Dataset:
    return run(looks_or_rests(dict(DETERMINERS)))


def titles(result: xr.Dataset) -> dict[str, str | None]:
    return {finding.topic: finding.verdict for finding in study_page(result).highlights()}


def test_words_without_the_function_look_at_the_sink(resting: xr.Dataset) -> None:
    det = resting.sel(relation="det")
    assert (int(det["chosen_layer"]), int(det["chosen_head"])) == (1, 2)
    assert det["sink_applies"] < 1e-3 and det["sink_otherwise"] > 0.99 and det["sink_gain"] > 0.99
    assert det["sink_q_value"] < 0.05 and det["sink_gain_n_examples"] > 20
    assert titles(resting)["Head 1-2 looks at special tokens where there is no det"] == "holds"


def test_relation_all_has_no_other_words(resting: xr.Dataset) -> None:
    assert (
        np.isnan(resting["sink_gain"].sel(relation="all")) and resting["sink_gain_n_examples"].sel(relation="all") == 0
    )


def test_a_head_whose_other_words_look_everywhere_is_not_named() -> None:
    result = run(looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES))
    assert not [
        topic for topic, verdict in titles(result).items() if "special tokens where" in topic and verdict == "holds"
    ]


def test_a_relation_applies_to_its_dependents_or_to_their_heads() -> None:
    count = 4
    one = HeadPredictions(
        input=np.array([0, 0, 0, 1]),
        unit=np.array([0, 0, 0, 1]),
        word=np.array([0, 1, 2, 0]),
        position=np.array([0, 1, 2, 0]),
        head=np.array([1, 2, -1, -1]),
        length=np.array([3, 3, 3, 1]),
        relation=np.array(["det", "nsubj", "root", "root"]),
        equals=np.zeros((count, 1, 2), np.uint8),
        tokens=np.ones(count, int),
        sink=np.zeros((count, 1)),
    )
    assert applies(one, "det", "dependent_to_head").tolist() == [True, False, False, False]
    assert applies(one, "det", "head_to_dependent").tolist() == [False, True, False, False]
    assert applies(one, "root", "head_to_dependent").tolist() == [False] * count


def test_paired_means_by_loops() -> None:
    random = Random(0)
    values = np.array([random.random() for _ in range(60)])
    inside = np.array([random.random() < 0.3 for _ in range(60)])
    inputs = np.sort(np.array([random.randrange(12) for _ in range(60)]))
    rows = []
    for number in range(12):
        groups = [values[(inputs == number) & (inside == side)] for side in (True, False)]
        if all(map(len, groups)):
            means = [group.mean() for group in groups]
            rows.append([*means, means[1] - means[0]])
    tally = partial(paired_means, values, inside, inputs)(np.ones((3, 12)))
    assert tally.mean.tolist() == pytest.approx(np.mean(rows, axis=0).tolist()) and int(tally.count) == len(rows)
