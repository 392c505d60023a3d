"""The report of `relations` says the numbers that were planted: in findings, tables and figures."""

import json

import numpy as np
import pytest
import xarray as xr

from headscope.report.cards import numbers
from headscope.report.cards.head_numbers import rows, where
from headscope.report.kinds import head_kinds, words_of
from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS
from headscope.studies.heads.relations.card import CARD
from headscope.studies.heads.relations.link_attention import DIRECTIONS
from support.findings import texts_of
from support.snapshot import assert_page

# Sentences; attention of links, elsewhere and from other words in head 2-3, source to target; whether it is special.
RELATIONS = {
    "all": (500, 0.375, 0.25, 0.1875, True),
    "Agent": (100, 0.75, 0.25, 0.125, True),
    "Theme": (80, 0.5, 0.125, 0.4375, False),
    "Goal": (20, 0.625, 0.125, 0.125, False),
    "Path": (1, np.nan, np.nan, np.nan, False),
}
STEPS = {
    "read": 9000,
    "dropped": {"sentences without a link": 400, "sentences of more than 12 words": 8000},
    "kept": 600,
}


def result_of(untrained: bool = True, as_coded: bool = False) -> xr.Dataset:
    """A result of `relations` for a model of 2 layers with 3 heads; head 1-1 gives most to all links, and elsewhere."""
    names = list(RELATIONS)
    sentences, linked, elsewhere, others, special = (
        np.array(column) for column in zip(*RELATIONS.values(), strict=True)
    )
    coords = {"layer": [1, 2], "head": [1, 2, 3], "relation": names, "direction": list(DIRECTIONS)}

    def filled(value: float) -> xr.DataArray:
        return xr.DataArray(np.full((2, 3, len(names), 3), value), coords, tuple(coords))

    def by_relation(values: object) -> xr.DataArray:
        return xr.DataArray(values, {"relation": names}, ("relation",))

    variables = {name: filled(0.0625) for name in ("link_attention", "elsewhere", "others")}
    variables |= {"q_value": filled(1.0), "special": filled(0.0), "untrained": filled(0.09375)}
    for number, name in enumerate(names):
        labels = {"layer": 2, "head": 3, "relation": name, "direction": "source_to_target"}
        for variable, values in (("link_attention", linked), ("elsewhere", elsewhere), ("others", others)):
            variables[variable].loc[labels] = values[number]
        variables["q_value"].loc[labels] = 0.001
        variables["special"].loc[labels] = float(special[number])
    for variable in ("link_attention", "elsewhere"):
        variables[variable].loc[{"layer": 1, "head": 1, "relation": "all", "direction": "source_to_target"}] = 0.5
    variables["gain"] = variables["link_attention"] - variables["elsewhere"]
    variables["gain_others"] = variables["link_attention"] - variables["others"]
    variables["percentile"] = variables["link_attention"].quantile(0.99, ["layer", "head"]).drop_vars("quantile")
    known = ~np.isnan(linked)
    direction = np.where(known, "source_to_target", "").astype(object)
    variables |= {
        "chosen_layer": by_relation(np.where(known, 2, np.nan)),
        "chosen_head": by_relation(np.where(known, 3, np.nan)),
        "chosen_direction": by_relation(direction),
        "chosen_attention": by_relation(linked),
        "chosen_elsewhere": by_relation(elsewhere),
        "chosen_others": by_relation(others),
        "chosen_gain": by_relation(linked - elsewhere),
        "chosen_gain_others": by_relation(linked - others),
    }
    for name in list(variables):
        if name not in ("q_value", "special", "percentile", "chosen_layer", "chosen_head", "chosen_direction"):
            bounds = [variables[name] - 0.03125, variables[name] + 0.03125]
            variables[f"{name}_ci"] = xr.concat(bounds, xr.Variable("bound", list(BOUNDS))).transpose(..., "bound")
    variables |= {
        f"{name}_n_examples": by_relation(sentences)
        for name in ("link_attention", "elsewhere", "others", "gain", "gain_others", "untrained")
    }
    variables["chosen_attention_n_examples"] = by_relation(sentences // 2)
    result = xr.Dataset(variables).assign(map=_map(), untrained_gain=("seed", [0.0] * 3))
    for name, array in result.data_vars.items():
        units = {"q_value": "rate", "special": "1 if so"}.get(str(name), "share of attention")
        units = "sentences" if str(name).endswith("_n_examples") else units
        array.attrs |= {"long_name": str(name), "units": units, "source": "made"}
    attrs = {name: "made" for name in ATTRIBUTES} | {"n_examples": 600, "n_tokens": 900, "study": "relations"}
    attrs |= {"options": json.dumps({"as_coded": as_coded}), "filter": json.dumps(STEPS)}
    result = result.assign_attrs(attrs)
    return (
        result if untrained else result.drop_vars([str(name) for name in result if str(name).startswith("untrained")])
    )


def _map() -> xr.DataArray:
    """One map of four tokens, padded: the second looks at the third, which it is linked to."""
    weights = np.full((1, 5, 5), np.nan)
    weights[0, :4, :4] = np.eye(4)[[0, 2, 1, 3]] * 0.75 + 0.0625
    coords = {
        "example": [1],
        "query": range(1, 6),
        "key": range(1, 6),
        "token": (("example", "query"), [["[CLS]", "if", "</script>", "[SEP]", ""]]),
        "link_end": (("example", "query"), [[0, 1, 2, 0, 0]]),
        "map_layer": ("example", [2]),
        "map_head": ("example", [3]),
        "map_direction": ("example", ["source_to_target"]),
        "map_relation": ("example", ["Agent"]),
    }
    return xr.DataArray(weights, coords, ("example", "query", "key"))


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def test_the_pages_say_the_planted_numbers(result: xr.Dataset) -> None:
    unfiltered = result.assign_attrs(filter=json.dumps({"read": 60, "dropped": {}, "kept": 60}))
    cases = {"all": result, "no untrained model": result_of(untrained=False), "as coded": result_of(as_coded=True)}
    nothing = {name: result[name] * 0 for name in ("gain", "gain_others", "special", "chosen_gain_others")}
    bounds = {f"{name}_ci": result[f"{name}_ci"] - result[name] for name in nothing if name != "special"}
    narrow = {
        f"{name}_ci": result[name] + (result[f"{name}_ci"] - result[name]) / 2 for name in ("gain", "gain_others")
    }
    gains = (-0.06, 0.016, 0.06)
    random = {gain: result.assign(narrow | {"untrained_gain": ("seed", [gain] * 3)}) for gain in gains}
    claims = {
        "no head gains": result.assign(nothing | bounds),
        "few sentences": result.assign(chosen_attention_n_examples=result["chosen_attention_n_examples"] * 0 + 1),
        "no random weights": result.drop_vars("untrained_gain"),
        **{f"random weights gain {value}": made for value, made in random.items()},
    }
    assert_page(__file__, cases | {"unfiltered": unfiltered}, claims)


@pytest.mark.parametrize(("heads", "above"), [(6, 1), (101, 1), (102, 2)])
def test_as_many_heads_as_the_page_says_lie_above_the_percentile(result: xr.Dataset, heads: int, above: int) -> None:
    copies = -(-heads // 6)
    wide = xr.concat([result] * copies, "head", data_vars="minimal").copy(deep=True)
    wide = wide.assign_coords(head=range(1, 3 * copies + 1))
    values = np.full(6 * copies, np.nan)
    values[:heads] = np.random.default_rng(0).permutation(heads) / heads
    chosen = {"relation": "all", "direction": "source_to_target"}
    wide["link_attention"].loc[chosen] = values.reshape(2, -1)
    wide["percentile"].loc[chosen] = np.nanpercentile(values, 99)
    assert f"This is no test: {above} of {heads} heads" in texts_of(wide)["Above the 99th percentile"]
    table = next(table for table in study_page(wide).tables() if table.name == "highest")
    assert [cells[-1] for label, cells in table.rows if label == ("source → target",)].count(("yes", "")) == above


def test_figures_show_links_gains_relations_and_a_zoom(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    names = ["link_attention", "gain", "link_attention-by_layer", "chosen", "gain-by_relation", "zoom-1"]
    assert list(figures) == names
    rows = {name: _rows(figures[name].chart.to_dict()) for name in ("gain", "chosen", "zoom-1")}
    sharp = [row for row in rows["gain"] if row["name"] == "2-3" and row["direction"] == "source → target"]
    assert [row["value"] for row in sharp] == [0.125]  # the smaller of 0.125 and 0.1875
    assert [row["relation"] for row in rows["chosen"][::4]] == ["all 2-3", "Agent 2-3", "Theme 2-3"]
    linked = [row for row in rows["zoom-1"] if row.get("kind") == "linked"]
    assert [(row["token"], row["value"]) for row in linked] == [("</script>", 0.8125)]


def _rows(spec: dict) -> list[dict]:
    return [row for rows in spec["datasets"].values() for row in rows]


def of_head(result: xr.Dataset, layer: int, head: int) -> dict[str, str]:
    all_numbers = numbers(result)
    mine = rows(where(all_numbers, (all_numbers["layer"] == layer) & (all_numbers["head"] == head)))
    return {finding.topic: finding.text for finding in CARD.sentences(result, mine)}


def test_the_card_of_a_head_has_its_relations_with_the_harder_baseline(result: xr.Dataset) -> None:
    special = of_head(result, 2, 3)["Special for links"]
    assert "Agent (source → target) 0.75 [0.72, 0.78], baseline 0.25" in special and "n = 100 sentences" in special
    assert "Theme" not in special and "90 heads, relations and directions" in special
    assert of_head(result, 1, 1)["Special for links"].startswith("No relation")


def test_the_kinds_of_heads_say_what_each_is_special_for(result: xr.Dataset) -> None:
    kinds = head_kinds([result])
    assert list(kinds) == [(2, 3)]
    assert "Agent" in words_of(kinds[2, 3])
    assert set(CARD.hidden) < set(map(str, result))
