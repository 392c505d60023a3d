"""What the page of a film says, of made numbers whose answer is known."""

from pathlib import Path

import numpy as np
import xarray as xr

from headscope.figures.theme import shades
from headscope.report.cards.head_numbers import numbers, rows
from headscope.report.declared import parts_of
from headscope.studies.training.film import STUDY, card
from headscope.studies.training.film.page import PAGE, ROWS
from headscope.studies.training.film.study import half_change, order_of_layers
from support.snapshot import assert_page

STEPS, LAYERS, HEADS = [0, 10, 20, 30, 40], 6, 4
ATLAS = Path(__file__).parents[3] / "src" / "headscope" / "report" / "templates" / "atlas.html"


def film(starts: list[float], steps: list[int] = STEPS, error: float = 0.002) -> xr.Dataset:
    """A film in which each layer changes evenly from a share of the steps on, to 0.4; head 6-4 twice as much."""
    shares = np.array(steps) / steps[-1]
    layers = np.stack([np.clip((shares - start) / (1 - start), 0, 1) * 0.4 for start in starts], axis=1)
    heads = np.repeat(layers[:, :, None], HEADS, axis=2)
    heads[:, -1, -1] *= 2
    noise = np.random.default_rng(0).normal(0, error, (200, LAYERS))
    halves = half_change(layers, shares)
    order = order_of_layers(np.concatenate([halves[None], halves + noise]))
    values = {
        "step_similarity": (1 - heads, (1 - heads)[..., None] + [-0.01, 0.01]),
        "step_layer_similarity": (1 - layers, (1 - layers)[..., None] + [-0.01, 0.01]),
        "half_change": (halves, halves[:, None] + [-2 * error, 2 * error]),
        "half_change_of_head": (half_change(heads, shares), None),
        "order_of_layers": (order[0], np.quantile(order[1:], [0.025, 0.975])),
        "step_weight_change": (layers / 10, None),
    }
    coords = {"step": steps, "layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1), "bound": ["lower", "upper"]}
    result = xr.Dataset(coords={name: list(labels) for name, labels in coords.items()}, attrs={"study": "film"})
    for name, (mean, bounds) in values.items():
        label = STUDY.labels[name]
        attributes = {"long_name": label.what, "units": label.unit}
        result[name] = (label.dims, mean, attributes)
        if bounds is not None:
            result[f"{name}_ci"] = ((*label.dims, "bound"), bounds, attributes)
        result[f"{name}_n_examples"] = ((), 200, attributes)
    return result


def test_the_order_of_layers_holds_where_it_is_planted() -> None:
    """Not over few steps, nor over examples alone: three layers always lie nearly on a line."""
    upper, lower = [0.5, 0.4, 0.3, 0.2, 0.1, 0.0], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    claims = {
        "lower first": film(lower),
        "no order": film([0.1, 0.4, 0.0, 0.3, 0.2, 0.15]),
        "nearly alike": film([0.3, 0.1, 0.2, 0.2, 0.3, 0.1]),
        "few steps": film([0.0] * LAYERS, [0, 20, 40]),
        "three layers": film(upper).isel(layer=slice(0, 3)),
    }
    assert_page(__file__, {"upper first": film(upper)}, claims)
    assert len(parts_of(PAGE.kinds, film(upper))) == LAYERS * HEADS
    assert card.main_numbers(film(upper)) == ("step_similarity.40", "half_change_of_head")


def with_studies(result: xr.Dataset) -> xr.Dataset:
    """The film with a number of heads, which rises at head 6-4 alone, and a number of layers."""
    heads = np.full((len(STEPS), LAYERS, HEADS), 0.25)
    heads[:, -1, -1] = np.linspace(0.25, 0.75, len(STEPS))
    names = {"main_number": ["syntax: accuracy: all"], "layer_number": ["geometry: Length"]}
    result = result.assign_coords(names | {"number_unit": ("main_number", ["share of words"])})
    for name, values in {"step_number": heads, "step_layer_number": heads.mean(2)}.items():
        result[name] = (STUDY.labels[name].dims, values[None], {"long_name": STUDY.labels[name].what, "units": ""})
        result[f"{name}_ci"] = ((*STUDY.labels[name].dims, "bound"), values[None, ..., None] + [-0.1, 0.1])
    return result


def test_numbers_of_other_studies_are_shown() -> None:
    result = with_studies(film([0.0] * LAYERS))
    *_, last = parts_of(PAGE.findings, result)
    assert last.topic == "syntax: accuracy: all" and last.verdict is None
    assert "step 0 0.25" in last.text and "0.00 to 0.50, median 0.00" in last.text
    shown = {figure.name: figure.chart.to_dict() for figure in parts_of(PAGE.charts, result) if "number" in figure.name}
    assert list(shown) == ["main-number-1", "layer-number-1"]
    assert "accuracy: all" in str(shown["main-number-1"]) and "share of words" in str(shown["main-number-1"])
    of_head = [row for row in rows(numbers(result)) if (row.layer, row.head) == (6, 4)]
    sentence = list(card.sentences(result, of_head))[-1]
    assert "0.25 [0.15, 0.35] at step 0" in sentence.text and "0.75 [0.65, 0.85] at step 40 (1st" in sentence.text


def test_layers_are_told_apart_by_shade() -> None:
    assert len(set(shades(24))) == 24 and shades(1) == ["#8fd0cb"]


def test_the_slider_is_a_labelled_range_of_steps() -> None:
    template = ATLAS.read_text(encoding="utf-8")
    assert '<label>Step of the training <input type="range"' in template and 'aria-live="polite"' in template


def test_no_panel_of_a_strip_is_missing() -> None:
    assert all(panels % columns == 0 for panels, columns in ROWS) and ROWS[-1] == (1, 1)
