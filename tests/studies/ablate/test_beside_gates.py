"""Trained gates beside importance and ablation: closed forms, scipy, gates at random, and gates of another model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import spearmanr

from headscope import HeadscopeError, Settings, results, wrap
from headscope.report.study_page import study_page
from headscope.studies.size.ablate.beside_gates import LOSS, variables
from headscope.studies.size.ablate.gains import Gains
from support.marked_result import ATTRIBUTES, marked
from support.planted_task import planted_classifier, planted_task
from support.runs import ablate as run
from support.tiny import tiny_tokenizer

LAYERS, HEADS, EXAMPLES = 6, 12, 200
PLACES = {"layer": np.arange(1, LAYERS + 1), "head": np.arange(1, HEADS + 1)}


def losing(wrong: np.ndarray, resamples: int = 200) -> Gains:
    """A model that is always right, and is wrong on this many examples without each head."""
    outputs = np.tile(np.array([0.0, 1.0]), (len(wrong), EXAMPLES, 1))
    for head, number in enumerate(wrong):
        outputs[head, :number] = [1, 0]
    targets = np.ones(EXAMPLES)
    return Gains(["accuracy"], outputs, np.tile([0.0, 1.0], (EXAMPLES, 1)), targets, range(EXAMPLES), 0, resamples)


def gates_of(values: np.ndarray) -> xr.DataArray:
    return xr.DataArray(values.reshape(LAYERS, HEADS), PLACES, ["layer", "head"])


def test_gates_in_the_order_of_the_losses_have_a_correlation_of_one_and_importance_that_of_scipy() -> None:
    random, wrong = np.random.default_rng(0), np.random.default_rng(1).permutation(LAYERS * HEADS)
    importance = random.random((LAYERS, HEADS, 2))
    labels = PLACES | {"estimator": ["michel", "text_pruner"]}
    by_estimator = {"importance": xr.DataArray(importance, labels, [*labels])}
    for sign in (1, -1):
        made = variables(gates_of(sign * wrong / 100.0), losing(wrong), by_estimator, 0)["gate_correlation"]
        assert made["ranking"].values.tolist() == [LOSS, "michel", "text_pruner"]
        assert float(made.sel(ranking=LOSS)) == pytest.approx(sign)
        expected = spearmanr(sign * wrong, importance[..., 1].ravel())[0]
        assert float(made.sel(ranking="text_pruner")) == pytest.approx(expected)


def test_random_gates_are_told_from_no_correlation_in_few_draws_only() -> None:
    random, single, outside = np.random.default_rng(0), losing(np.arange(LAYERS * HEADS)), 0
    for _ in range(60):
        made = variables(gates_of(random.random(LAYERS * HEADS)), single, {}, 0)
        lower, upper = made["gate_correlation_ci"].sel(ranking=LOSS).values
        outside += lower > 0 or upper < 0
    assert outside <= 7


def saved(folder: Path, gates: np.ndarray, sha256: str) -> str:
    words = {"long_name": "gates", "units": "probability", "source": "made"}
    places = {"layer": [1, 2], "head": [1, 2, 3, 4]}
    attributes = ATTRIBUTES | {"study": "shrink", "model_sha256": sha256}
    results.save(
        xr.Dataset({"head_gate": xr.DataArray(gates, places, [*places], attrs=words)}, attrs=attributes), folder
    )
    return str(folder)


def test_a_result_with_gates_is_compared_and_one_of_another_model_is_refused(tmp_path: Path) -> None:
    model, gates = wrap(planted_classifier(), tiny_tokenizer()), np.full((2, 4), 0.25)
    gates[1, 2] = 1  # of the head that decides
    folder, options = saved(tmp_path / "gates", gates, model.sha256), {"directory": tmp_path / "a"}
    result: Any = run(model, planted_task(), Settings(resamples=50), beside=[folder], **options)
    assert result["gate_correlation"].sizes["ranking"] == 5 and int(result["gate_correlation_n_examples"]) == 8
    assert float(result["gate_correlation"].sel(ranking=LOSS)) > 0.9
    texts = " ".join(finding.text for finding in (*study_page(result).highlights(), *study_page(result).findings()))
    assert "Rank correlation over 8 heads of trained gates" in texts
    other, few, swept = saved(tmp_path / "other", gates, "ff"), marked(tmp_path / "few", (1, 1), of=(1, 2)), list[int]()
    for beside, words in (([other], "gates of another"), ([folder, other], "both have"), ([few], "with other heads")):
        with pytest.raises(HeadscopeError, match=words):
            run(model, planted_task(), Settings(on_total=swept.append), beside=beside, **options)
    assert not swept  # nothing is computed before
