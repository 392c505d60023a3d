"""Claims of each study: they hold where what they say is planted, and none holds of a model that knows nothing.

Here with few seeds; `python -m benchmarks.claims` counts forty, and docs/numbers.md has its table.
"""

from pathlib import Path

import pytest

from headscope import catalog
from support.claim_cases import CASES, NO_CLAIMS, claimed, is_found, run

# Those that take a second or more a run read the first noise alone.
DEAR = ("ablate", "clusters", "finetune", "layers", "probe", "prune", "relations", "structure", "trees")
NOISES = [(study, noise) for study, case in CASES.items() for noise in case.noises[: 1 if study in DEAR else None]]


def test_each_study_with_claims_has_a_case() -> None:
    pages = {path.parents[1].name for path in (catalog.ROOT / "studies").glob("*/page/*.py") if _judges(path)}
    assert pages - {"_template", *NO_CLAIMS} == set(CASES)


def _judges(path: Path) -> bool:
    return "Finding.judged(" in path.read_text(encoding="utf-8") or "beside_random_seeds(" in path.read_text("utf-8")


@pytest.mark.parametrize("study", CASES)
def test_a_claim_holds_of_what_is_planted(study: str) -> None:
    result = run(study, seed=0)
    assert is_found(study, result), claimed(result)


@pytest.mark.parametrize(("study", "noise"), NOISES)
def test_no_claim_holds_of_noise(study: str, noise: str) -> None:
    told = claimed(run(study, seed=0, noise=noise))
    assert [topic for topic, verdict in told.items() if verdict == "holds"] == []


@pytest.mark.parametrize("seed", [2, 7])
def test_the_gold_root_alone_draws_no_trees(seed: int) -> None:
    """Trees drawn at random, but with their gold root, are better here than any fixed word."""
    result = run("trees", seed, "uniform")
    gain = result["chosen_gain_ci"].sel(metric="uas", special_tokens="left_out", bound="lower")
    assert float(gain.sel(root="gold")) > 0 > float(gain.sel(root="best"))
    assert "holds" not in claimed(result).values()
