"""Published figures beside a result's own: the numbers here are those of loops, and no page invents one."""

import numpy as np
import pytest
import xarray as xr

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.report.numbers import Numbers
from headscope.report.published import attention_figures, published_table
from headscope.report.study_page import study_page
from headscope.report.tables import Table
from headscope.report.wording import LEVELS, number
from headscope.studies.heads.induction.page import delimiters, previous
from headscope.studies.size.ablate import published as of_ablate
from headscope.studies.size.prune.published import no_clear_loss
from headscope.studies.words.attributions import tables as of_attributions
from headscope.studies.words.gradients.page import first_small
from support.profile_result import profile_result

LOSS = next(iter(LOWER_IS_BETTER))
HEADS = {"layer": [1, 2, 3], "head": [1, 2]}


def published_of(result: xr.Dataset) -> Table:
    (table,) = (table for table in study_page(result).tables() if table.name == "published")
    return table


def test_a_profile_counts_its_heads_and_layers_as_the_paper_does() -> None:
    result = profile_result()
    cells = {words: row for (words,), row in published_of(result).rows}
    (row,) = (cells[name] for name in cells if name.endswith("attention to the previous token"))
    assert [cell and cell[0] for cell in row] == [
        "1 head, in layer 2",
        "4 heads, in layers 2, 4, 7, 8",
        "Clark et al. 2019, section 3 (read in the paper)",
    ]
    means = [np.mean([float(head) for head in layer]) for layer in result["attention_to"].sel(token_class="sep").values]
    most = int(np.argmax(means))
    here = cells["largest mean attention of a layer to separators"][0]
    assert here == (f"{number(float(means[most]))} (layer {most + 1})", "")


def test_a_model_without_separators_has_none_of_their_figures() -> None:
    words = [figure.words[0] for figure in attention_figures(profile_result(special=False))]
    assert len(words) == 2 and not any("separators" in text or "[CLS]" in text for text in words)


def test_gradients_are_small_from_the_first_layer_behind_the_last_that_is_not() -> None:
    def small(*values: float) -> str:
        coords = {"token_class": ["sep"], "layer": range(1, len(values) + 1)}
        (figure,) = first_small(Numbers(xr.Dataset({"relative_gradient": xr.DataArray([values], coords)})))
        return figure.here[0]

    assert small(0.1, 0.5, 0.1, 0.05) == "layer 3"
    assert small(0.1, 0.1) == "layer 1" and small(0.1, 0.9) == "none"


@pytest.mark.parametrize(("upper", "share"), [((0.1, 0.1), 0.5), ((0.1, -0.1), 0.25), ((-0.1, 0.1), 0.0)])
def test_pruning_has_no_clear_loss_up_to_the_first_step_that_has_one(upper: tuple, share: float) -> None:
    bounds = np.array([[0, 0], *([value - 0.4, value] for value in upper)])[:, None]
    at = {"share_removed": [0.0, 0.25, 0.5], "metric": ["accuracy"], "bound": ["lower", "upper"]}
    change = xr.DataArray(bounds.mean(-1), {dim: at[dim] for dim in ("share_removed", "metric")})
    result = xr.Dataset({"score_change": change, "score_change_ci": (tuple(at), bounds)}, at)
    assert no_clear_loss(Numbers(result)) == share
    error = xr.Dataset({"score_change": -change, "score_change_ci": (tuple(at), -bounds[..., ::-1])}, at)
    assert no_clear_loss(Numbers(error.assign_coords(metric=[LOSS]))) == share


def test_layers_stand_beside_layers_of_the_same_number() -> None:
    def rows(layers: int) -> list[tuple[str, str]]:
        values = np.arange(3 * layers).reshape(3, layers) / 100
        at = {"attribution": ["attention", "rollout", "flow"], "layer": range(1, layers + 1)}
        result = xr.Dataset({"rank_correlation": xr.DataArray(values, at, tuple(at))})
        return [(figure.words[0], figure.paper) for figure in of_attributions.figures(result)]

    assert len(rows(6)) == 18 and rows(6)[2] == ("attention, layer 3", "-0.11")
    assert rows(4)[:2] == [("attention, layer 1", "0.69"), ("attention, layer 4", "0.29")] and len(rows(4)) == 6
    assert not rows(1)


def gains(layers: int) -> xr.Dataset:
    at = {"layer": range(1, layers + 1), "head": [1, 2], "metric": ["accuracy"]}
    of_heads = xr.DataArray(np.linspace(-0.1, 0.02, layers * 2).reshape(layers, 2, 1), at, tuple(at))
    of_layers = of_heads.isel(head=0, drop=True)
    rates = of_heads.isel(metric=0, drop=True) * 0 + np.array([0.01, 0.5])
    made = {"head_gain": of_heads, "layer_gain": of_layers, "one_head_gain": of_layers, "head_q_value": rates}
    return xr.Dataset(made, attrs={"task": "MRPC"})


def test_ablations_are_told_in_points_beside_their_own_task() -> None:
    cells = {figure.words[0]: (figure.here[0], figure.paper) for figure in of_ablate.figures(gains(3), "accuracy")}
    assert cells["heads that matter alone (here q < 0.05)"] == ("3 of 6", "8 of 96")
    assert cells["highest change of accuracy without a head"] == ("+2.00", "+1.2 (MRPC)")
    assert cells["lowest change of accuracy without a layer's heads"] == ("-10.00", "-0.2 (QNLI, MNLI)")
    assert cells["change of accuracy with one head in a layer, lowest"] == ("-10.00", "-0.96 (layer 9)")
    twelve = [figure for figure in of_ablate.figures(gains(12), "accuracy") if "one head" in figure.words[0]]
    assert [figure.paper for figure in twelve][8:10] == ["-0.96", "+0.07"] and len(twelve) == 12
    assert not [*of_ablate.figures(gains(3), LOSS)]


def test_delimiters_are_those_of_the_layer_that_gives_most_and_other_sinks_have_no_published_figure() -> None:
    shares = xr.DataArray([[0.1, 0.3], [0.8, 0.6], [0.2, 0.2]], HEADS)
    at = xr.Variable("focus", ["first", "delimiter", "punctuation"])
    result = xr.Dataset({"sink_attention": xr.concat([shares, shares * 0.5, shares], at)})
    result["natural_attention"] = shares.expand_dims(relation=["previous"])
    made = [(figure.here[0], figure.paper, figure.level) for figure in (*delimiters(result), *previous(result))]
    assert made == [
        ("0.35 (layer 2)", "0.575 (layer 9)", "~"),
        ("2 heads, in layers 2, 2", "4 heads, in layers 2, 4, 7, 8", "P"),
    ]


def test_a_table_says_how_sure_a_figure_is() -> None:
    figures = [*attention_figures(profile_result())]
    (table,) = published_table(figures, "Beside the paper.")
    assert table.size == 3 * len(figures) and {figure.level for figure in figures} <= LEVELS.keys()
    assert all(
        row[-1] and row[-1][0].endswith(f"({LEVELS[one.level]})")
        for one, (_, row) in zip(figures, table.rows, strict=True)
    )
