"""What each layer knows: the numbers of layers that studies have, on one page and on the cards of heads."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import xarray as xr

from headscope.report.cards import gather_all
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.layer_numbers import highlights
from headscope.report.layers_page import beside, write_layers
from headscope.report.parts import LayerNumber
from headscope.report.study_page import study_page
from headscope.results import read
from support.every_study import STUDIES, Run
from support.tiers import in_turn

OF_LAYERS = ("ablate", "attributions", "geometry", "gradients", "layers", "lens", "structure", "trees")


def number(words: str, values: list[float], chosen: int | None, topic: str = "Trees") -> LayerNumber:
    return LayerNumber(topic, words, xr.DataArray(values, {"layer": [1, 2]}, ("layer",)), chosen)


@pytest.mark.parametrize("study", in_turn(STUDIES, at=2))
def test_numbers_of_layers_have_one_dimension_and_a_name(study: str, ended: Callable[[str, str], Run]) -> None:
    numbers = study_page(read(ended(study, "annotated").directory)).layer_numbers()
    assert bool(numbers) == (study in OF_LAYERS)
    assert all(number.array.dims == ("layer",) and number.array.notnull().any() for number in numbers)
    assert len({number.words for number in numbers}) == len(numbers)


def test_page_has_all_numbers_of_a_model_with_intervals(ended: Callable[[str, str], Run], tmp_path: Path) -> None:
    folders = [ended(study, "annotated").directory for study in OF_LAYERS]
    models = gather_all(folders)
    page = write_layers(models, tmp_path)
    assert page is not None
    text = page.read_text(encoding="utf-8")
    for model in models:
        assert all(f">{one.words}<" in text for one in model.layers)
    uuas = read(ended("structure", "annotated").directory)
    low, high = (100 * uuas["uuas_ci"].sel(layer=1).values).tolist()
    assert f"<i>{low:.1f}, {high:.1f}</i>" in text
    trees = json.loads(uuas.attrs["trees"])
    assert trees and text.count("-tree-") >= len(trees) == text.count("dashed edges are wrong")


def of_model(name: str, sha256: str, numbers: list[LayerNumber]) -> MeasuredModel:
    model = MeasuredModel((name,), sha256, ())
    vars(model)["layers"] = numbers
    return model


def test_numbers_that_two_models_have_stand_beside_each_other() -> None:
    one = of_model("small", "a", [number("Root", [0.1, 0.9], 2), number("Edges", [0.2, 0.1], None)])
    other = of_model("large", "b", [number("Root", [0.7, 0.3], 1), number("Depths", [0.2, 0.1], None)])
    third = of_model("small", "c", [number("Edges", [0.3, 0.4], None)])
    figure = beside([one, other, third])
    assert figure is not None and figure.table is not None
    assert [column.words for column in figure.table.columns] == ["small (1)", "large", "small (3)"]
    assert [(keys[0], [cell and cell[0] for cell in cells]) for keys, cells in figure.table.rows] == [
        ("Root", ["layer 2 of 2: 90.0", "layer 1 of 2: 70.0", None]),
        ("Edges", ["layer 1 of 2: 20.0", None, "layer 2 of 2: 40.0"]),
    ]
    names = [cell["number"] for cell in figure.chart.data.values]
    assert list(dict.fromkeys(names)) == ["Root: small (1)", "Root: large", "Edges: small (1)", "Edges: small (3)"]
    assert beside([one]) is None and beside([other, third]) is None


def test_result_without_numbers_of_layers_has_no_page(ended: Callable[[str, str], Run], tmp_path: Path) -> None:
    assert write_layers(gather_all([ended("profile", "annotated").directory]), tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_best_layers_stand_first_by_topic() -> None:
    numbers = [
        number("Root", [0.1, 0.9], 2),
        number("Edges", [0.9, 0.1], 1),
        number("Depths", [0.1, 0.5], 2),
        number("Length", [1.0, 2.0], None, "Space"),
    ]
    (finding,) = highlights(numbers)
    assert finding.topic == "Trees" and finding.text.endswith(" chose layer 2 for root, depths; layer 1 for edges.")


def test_card_says_what_the_layer_of_the_head_is_best_for(ended: Callable[[str, str], Run]) -> None:
    result = read(ended("structure", "annotated").directory)
    heads = read(ended("profile", "annotated").directory)
    model = MeasuredModel(("tiny",), "", (Source(Path("a"), result), Source(Path("b"), heads)))
    best = int(result.attrs["chosen_layer"])
    topics = {layer: [finding.topic for finding in Card(model, layer, 1).findings] for layer in (1, 2)}
    assert f"Layer {best}" in topics[best] and len(topics[3 - best]) == 1
