"""Pages say what alterations of attention gave: each claim holds, fails, and is undecided."""

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope.corpora import read
from headscope.passes import Settings
from headscope.report.study_page import study_page
from headscope.studies.words.attributions import study, variables
from headscope.studies.words.attributions.altered_inputs import ALTERATIONS, AlteredInputs
from headscope.studies.words.attributions.altered_page import NAMES
from support.tiny import tiny_bert, tiny_tokenizer


@pytest.fixture(scope="module")
def measured() -> xr.Dataset:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    return study.run(model, read(["the cat saw the bird", "a man ran"]), Settings(resamples=20), scored=0, flow=0)


def planted(measured: xr.Dataset, changes: dict[str, float], far: float, inputs: int = 60, spread: float = 0.02) -> set:
    """The topics with their verdicts, for a result whose outputs change by so much, 0.1 by default; see `result_of`."""
    page = study_page(result_of(measured, changes, far, inputs, spread))
    (table,) = [table for table in page.tables() if table.name == "altered"]
    assert len(table.rows) == len(ALTERATIONS)
    findings = [*page.highlights(), *page.findings()]
    return {(finding.topic, finding.verdict) for finding in findings} | {
        (finding.text.split(" another attention")[0], None) for finding in findings if "Heads" in finding.topic
    }


def result_of(
    measured: xr.Dataset,
    changes: dict[str, float],
    far: float,
    inputs: int = 60,
    spread: float = 0.02,
    layer: int | None = None,
) -> xr.Dataset:
    """A result whose outputs change by so much, 0.1 by default; with a `layer`, alone in it, and nowhere else.

    * `far`: the divergence of the other attention, of all heads and of each; that of permuted attention is 0.3.
    """
    random = np.random.default_rng(0)
    layers, heads = measured.sizes["layer"], measured.sizes["head"]
    change = np.array([changes.get(name, 0.1) for name in ALTERATIONS])[:, None] + np.zeros(1 + layers)
    if layer is not None:
        change[:, [at for at in range(1 + layers) if at != layer]] = 0.0
    change[ALTERATIONS.index("other"), 1:] = np.nan
    change = change + spread * random.standard_normal((inputs, *change.shape))
    distance = np.array([far if name == "other" else 0.3 for name in ALTERATIONS])[:, None, None]
    distance = distance + spread * random.standard_normal((inputs, len(ALTERATIONS), layers, heads))
    alone = np.full((inputs, layers, heads), far) + spread * random.standard_normal((inputs, layers, heads))
    numbers = np.arange(inputs)
    rows = AlteredInputs(numbers, numbers, change, (change > 0.2).astype(float), distance, alone, alone)
    made = variables.Variables(variables.COORDS, variables.STUDY.source, variables.STUDY.labels)
    draws = variables.poisson_draws(numbers, 0, 200)
    for name, values in variables._of_altered(rows).items():
        variables._add(made, name, values, draws)
    return measured.assign(made.arrays)


def test_what_was_planted_holds(measured: xr.Dataset) -> None:
    claims = planted(measured, {"largest_10": 0.4, "permuted": 0.3}, far=0.6)
    assert sorted(topic.split()[0] for topic, verdict in claims if verdict == "holds") == [
        "Another",
        "Outputs",
        "Outputs",
    ]
    heads = measured.sizes["layer"] * measured.sizes["head"]
    assert (f"For {heads} of {heads} heads", None) in claims


def test_what_was_not_planted_fails(measured: xr.Dataset) -> None:
    claims = planted(measured, {"permuted": 0.01, "largest_10": 0.08}, far=0.1)
    assert sorted(topic.split()[0] for topic, verdict in claims if verdict == "fails") == ["No", "Outputs", "The"]


@pytest.mark.parametrize(("inputs", "spread"), [(3, 0.02), (60, 2.0)])
def test_few_inputs_or_noise_decide_nothing(measured: xr.Dataset, inputs: int, spread: float) -> None:
    claims = planted(measured, {"permuted": 0.06}, 0.31, inputs, spread)
    assert {verdict for topic, verdict in claims if "attention" in topic or "attend" in topic} <= {"undecided", None}


def test_alterations_of_one_layer_alone_are_on_the_page(measured: xr.Dataset) -> None:
    layers = measured.sizes["layer"]
    page = study_page(result_of(measured, {"permuted": 0.4}, 0.1, spread=0.0, layer=layers))
    (table,) = [table for table in page.tables() if table.name == "altered_layers"]
    cells = dict(zip((row[0][0] for row in table.rows), (row[1] for row in table.rows), strict=True))
    assert set(cells) == {words for name, words in NAMES.items() if name != "other"}
    values = [float(cell[0]) for cell in cells["permuted"] if cell]
    assert values == pytest.approx([0.0] * (layers - 1) + [0.4])
    numbers = {one.words: one.array.values for one in page.layer_numbers()}
    assert numbers["change of the output, attention permuted"] == pytest.approx(values)
    assert "layer_altered_output" in [figure.name for figure in page.figures()]
    findings = [*page.highlights(), *page.findings()]
    (text,) = [finding.text for finding in findings if "largest attention weights" in finding.topic]
    assert "of the inputs: 0.0 [0.0, 0.0] points." in text
