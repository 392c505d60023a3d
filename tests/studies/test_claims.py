"""Claims of each study: they hold where what they say is planted, and none holds of a model that knows nothing.

Here with few seeds; `python -m benchmarks.claims` counts forty, and docs/measured/claims.md has its table.
"""

import re
from pathlib import Path

import pytest

from headscope import catalog
from support.claim_cases import CASES, FAMILIES, MEDIUM, MIXED, NO_CLAIMS, claimed, described, is_found, run
from support.tiers import chosen

# Those that take a second or more a run read the first noise alone; all noises but the first are thorough.
DEAR = ("ablate", "clusters", "finetune", "layers", "probe", "prune", "relations", "structure", "trees")
BEST = "best|broadest|clearest|greatest|highest|largest|least important|lowest|most|nearest|smallest|strongest"
# What scores are compared with, bounds, and what a number is defined by: no head or layer is the best by these.
DEFINED = "at most|most frequent|best (baseline|fixed word|parser without)|nearest (mention|and head)|largest over its"
NAMES_A_BEST = re.compile(rf"(?!\b({DEFINED})\b)\b(?<!at )({BEST})\b", re.IGNORECASE)
# Planted cases and noises of the second tier: these take seconds, and have quicker tests of their own.
SLOW = ("finetune", "landscape", "pretrain", "shrink", "structure")
NOISES = [
    pytest.param(study, noise, marks=pytest.mark.thorough if number or study == "pretrain" else ())
    for study, case in CASES.items()
    for number, noise in enumerate(case.noises[: 1 if study in DEAR else None])
]
PLANTED = chosen(CASES, lambda study: study in [*CASES][::2] and study not in SLOW)
OTHER_KINDS = [
    pytest.param(study, noise, marks=pytest.mark.thorough)
    for study in DEAR
    for noise in CASES[study].noises[1:]
    if noise in (*FAMILIES, *MIXED)
]


def test_each_study_with_claims_has_a_case() -> None:
    folders = {file.parent.name: file.parent for file in (catalog.ROOT / "studies").rglob("study.py")}
    judging = {study for study, folder in folders.items() if any(map(_judges, folder.rglob("*.py")))}
    assert judging - {"_template", *NO_CLAIMS} == set(CASES)


def _judges(path: Path) -> bool:
    return "Finding.judged(" in path.read_text(encoding="utf-8") or "beside_random_seeds(" in path.read_text("utf-8")


@pytest.mark.always
@pytest.mark.parametrize("study", PLANTED)
def test_a_claim_holds_of_what_is_planted(study: str) -> None:
    result = run(study, seed=0)
    assert is_found(CASES[study], result), claimed(result)


@pytest.mark.thorough
@pytest.mark.parametrize("effect", MEDIUM)
def test_a_medium_effect_is_found(effect: str) -> None:
    study, case = MEDIUM[effect]
    result = run(study, seed=0, case=case)
    assert is_found(case, result), claimed(result)


@pytest.mark.parametrize(("study", "noise"), [*NOISES, *OTHER_KINDS])
def test_no_claim_holds_of_noise_and_no_description_names_a_best_head(study: str, noise: str) -> None:
    result = run(study, seed=0, noise=noise)
    assert [topic for topic, verdict in claimed(result).items() if verdict == "holds"] == []
    assert [text for text in described(result) if NAMES_A_BEST.search(text)] == []


def test_a_best_head_in_a_description_is_seen() -> None:
    for text in ("the broadest head is 2-2", "Largest gains of accuracy: 1-3", "the largest has 4", "the highest UAS"):
        assert NAMES_A_BEST.search(text)
    for text in ("the best fixed word has 15.8%; at most 3", "the most frequent piece; at least 0.1", "mostly attends"):
        assert not NAMES_A_BEST.search(text)


@pytest.mark.parametrize("seed", [2, 7])
def test_the_gold_root_alone_draws_no_trees(seed: int) -> None:
    """Trees drawn at random, but with their gold root, are better here than any fixed word."""
    result = run("trees", seed, "uniform")
    gain = result["chosen_gain_ci"].sel(metric="uas", special_tokens="left_out", bound="lower")
    assert float(gain.sel(root="gold")) > 0 > float(gain.sel(root="best"))
    assert "holds" not in claimed(result).values()
