"""Report cards of heads and the index: what is known of a head from all results, and only of one model."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.cards import Card, addressed, card, gather, numbers, ranking
from headscope.report.heads_page import write_card, write_heads
from headscope.report.parts import LayerNumber
from support.compare_result import compare_result
from support.made_heads import model_of, with_maps
from support.patterns_result import patterns_result
from support.profile_result import profile_result

TUNED = "ef" * 32


def saved(folder: Path, **found: xr.Dataset) -> Path:
    for name, result in found.items():
        results.save(result, folder / name)
    return folder


def made(**variables: tuple[tuple[str, ...], np.ndarray]) -> xr.Dataset:
    """A result of a study that no file knows."""
    names = {"relation": ["det", "obj"], "other_layer": [1, 2], "other_head": [1, 2], "layer": [1, 2], "head": [1, 2]}
    attrs = {"long_name": "what is measured", "units": "points", "source": "nowhere"}
    arrays = {
        name: xr.DataArray(v, {d: names[d] for d in dims}, dims, attrs=attrs) for name, (dims, v) in variables.items()
    }
    return xr.Dataset(arrays, attrs=profile_result(study="other").attrs)


def test_every_number_has_its_interval_cases_rank_and_median() -> None:
    rows = numbers(profile_result())
    row = addressed(rows.assign(source=0), "attention_offset.-1").query("layer == 2 and head == 3").iloc[0]
    array = profile_result()["attention_offset"].sel(offset=-1)
    assert (row["value"], row["lower"], row["upper"], row["n"]) == pytest.approx((0.875, 0.865, 0.885, 50))
    assert (row["rank"], row["heads"], row["cases"]) == (1, 12, "examples")
    assert row["median"] == pytest.approx(float(array.median()))
    assert len(rows) == 12 * (4 + 1 + 3 + 1 + 1 + 9 + 9 + 4)


def test_ranks_are_those_of_counting_the_heads_above() -> None:
    rows = numbers(profile_result())
    for _, group in rows.groupby(["variable", "labels"]):
        values = group["value"].tolist()
        assert group["rank"].tolist() == [1 + sum(other > value for other in values) for value in values]


def test_equal_values_share_a_rank_and_missing_ones_have_none() -> None:
    rows = numbers(made(score=(("layer", "head"), np.array([[0.5, 0.5], [np.nan, 0.25]]))))
    assert rows["rank"].tolist() == [1, 1, 3] and set(rows["heads"]) == {3}


def test_what_is_not_the_number_of_a_head_is_left_out() -> None:
    pairs = (("layer", "head", "other_layer", "other_head"), np.zeros((2, 2, 2, 2)))
    alone = (("layer", "head"), np.ones((2, 2)))
    rows = numbers(made(divergence=pairs, q_value=alone, special=alone, share=alone))
    assert set(rows["variable"]) == {"share"}


def test_uniform_attention_stands_beside_what_it_is_compared_with() -> None:
    rows = numbers(profile_result()).assign(source=0)
    assert set(addressed(rows, "attention_to.sep")["baseline"]) == {0.1}
    assert set(addressed(rows, "entropy")["baseline"]) == {3.25}
    assert np.isnan(addressed(rows, "sep_to_sep")["baseline"].tolist()).all()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("entrop", "variable 'entrop' is in no result; did you mean 'entropy'? there are: attention_to, "),
        (
            "attention_to.seq",
            "variable 'attention_to' has no 'seq'; did you mean 'sep'? there are: cls, sep, punct, other",
        ),
        ("entropy.x", "variable 'entropy' has no 'x'; there are none"),
        ("", "variable '' is in no result; there are: "),
    ],
)
def test_an_address_that_names_nothing_says_what_there_is(address: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=f"^{re.escape(said)}"):
        addressed(numbers(profile_result()).assign(source=0), address)


def test_an_open_address_takes_the_largest_of_each_head() -> None:
    values = np.array([[[0.1, 0.4], [0.3, 0.2]], [[0.9, 0.8], [0.0, 0.1]]])
    rows = numbers(made(accuracy=(("layer", "head", "relation"), values))).assign(source=0)
    found = addressed(rows, "accuracy")
    assert found["value"].tolist() == [0.4, 0.3, 0.9, 0.1] and found["rank"].tolist() == [2, 3, 1, 4]
    assert [labels[0] for labels in found["labels"]] == ["obj", "det", "det", "obj"]


def test_heads_are_ranked_either_way() -> None:
    (table,) = ranking(model_of(profile_result()), "attention_offset.-1", top=1)
    assert table.rows[0][0] == ("2-3",) and table.rows[0][1][0] == ("0.88", "0.86, 0.89")
    (table,) = ranking(model_of(profile_result()), "attention_offset.-1", ascending=True)
    assert len(table.rows) == 12 and table.rows[-1][0] == ("2-3",)
    assert "previous token (share of attention): profile on sample" in table.caption


def test_results_of_one_model_come_together_whatever_its_name(tmp_path: Path) -> None:
    compared = compare_result("tuned").assign_attrs(
        compared_sha256=json.dumps({"before": "ab" * 32, "tuned": TUNED}), model="before → tuned"
    )
    folder = saved(
        tmp_path,
        profile=profile_result(),
        patterns=patterns_result().assign_attrs(model="a/longer/name"),
        compare=compared,
        other=profile_result(model="tiny", model_sha256="00" * 32),
        tuned=profile_result(model="path/tuned", model_sha256=TUNED),
    )
    found = {model.sha256: model for model in gather([folder])}
    assert set(found) == {"ab" * 32, TUNED, "00" * 32}
    assert set(found["ab" * 32].names) == {"tiny", "a/longer/name", "before"}
    assert {source.result.attrs["study"] for source in found[TUNED].sources} == {"compare", "profile"}
    assert len(found["00" * 32].sources) == 1


def test_of_several_models_compared_each_has_its_own_change(tmp_path: Path) -> None:
    result = compare_result("one", "two").assign_attrs(
        compared_sha256=json.dumps({"before": "aa", "one": "bb", "two": "cc"})
    )
    found = {
        model.sha256: model.sources[0].result["model"].values.tolist() for model in gather([saved(tmp_path, c=result)])
    }
    assert found == {"aa": ["one", "two"], "bb": ["one"], "cc": ["two"]}


def test_a_folder_named_twice_counts_once(tmp_path: Path) -> None:
    folder = saved(tmp_path, profile=profile_result())
    (model,) = gather([folder, folder / "profile", folder / "profile" / "result.nc"])
    assert len(model.sources) == 1


def test_a_linked_folder_that_leads_out_is_refused_by_its_name(tmp_path: Path) -> None:
    folder = saved(tmp_path / "elsewhere", profile=profile_result())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "linked").symlink_to(folder / "profile")
    with pytest.raises(HeadscopeError, match="linked' leads out of folder"):
        gather([tmp_path / "out"])


@pytest.mark.parametrize(
    ("folder", "said"),
    [("nowhere", "nowhere' does not exist; name folders"), ("", "has no results (result.nc); name folders")],
)
def test_a_folder_without_results_is_said(folder: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=re.escape(said)):
        gather([tmp_path / folder])


@pytest.mark.parametrize("damage", ["empty", "cut", "overwritten", "another"])
def test_a_broken_result_is_named_in_one_line(damage: str, tmp_path: Path) -> None:
    path = saved(tmp_path, profile=profile_result(), broken=profile_result()) / "broken" / "result.nc"
    content = path.read_bytes()
    middle = len(content) // 4
    damaged = {
        "empty": b"",
        "cut": content[: len(content) // 2],
        "overwritten": content[:middle] + bytes(len(content) - middle),
    }
    if damage == "another":
        xr.Dataset({"x": ("x", [1.0])}).to_netcdf(path, engine="h5netcdf")
    else:
        path.write_bytes(damaged[damage])
    with pytest.raises(HeadscopeError) as error:
        gather([tmp_path])
    assert "broken/result.nc' is not a result of headscope" in str(error.value) and "\n" not in str(error.value)


def test_a_head_that_does_not_exist_is_said_with_those_that_do() -> None:
    with pytest.raises(HeadscopeError, match=r"^head '7-1' is in no result; tiny has 1-1 to 4-3$"):
        card([model_of(profile_result())], 7, 1)


def test_standing_out_is_compared_with_the_average_head() -> None:
    model = model_of(profile_result())
    counts = []
    for layer, head in model.heads:
        (finding,) = Card(model, layer, head).findings
        match = re.match(
            r"Among the 3 highest heads in (\d+) of 32 numbers with enough cases \((\d+) for the average", finding.text
        )
        assert match
        counts.append((int(match[1]), int(match[2])))
    assert sum(first for first, _ in counts) == 3 * 32 and {average for _, average in counts} == {8}


def test_a_head_that_shares_its_keys_names_the_others() -> None:
    def shared(head: int, **attributes: str) -> list[str]:
        card = Card(model_of(profile_result().assign_attrs(attributes)), 2, head)
        return [finding.text for finding in card.findings if finding.topic == "Shared keys"]

    (text,) = shared(3, query_groups="[1, 2]")
    assert text.endswith("(KV head 2 of its layer) with 2-4.")
    assert shared(3) == shared(3, query_groups="[2, 1]") == []


def test_a_row_has_the_highest_rank_of_a_head_in_a_number() -> None:
    rows = Card(model_of(profile_result()), 2, 3).rank_rows
    assert [row.rank for row in rows] == sorted(row.rank for row in rows)
    (offset,) = [row for row in rows if row.words.startswith("attention to the token at each offset")]
    assert offset.words.endswith(": previous token") and offset.value == "0.88 [0.86, 0.89]"
    assert (offset.rank_words, offset.share, offset.stands_out) == ("1st of 12", 1, True)
    assert len({row.words.partition(":")[0] for row in rows}) == len(rows)


def test_a_bar_is_as_long_as_the_share_of_heads_without_a_higher_value() -> None:
    model = model_of(made(score=(("layer", "head"), np.array([[4.0, 3.0], [2.0, 1.0]]))))
    rows = [row for head in model.heads for row in Card(model, *head).rank_rows]
    assert [row.share for row in rows] == [1, 3 / 4, 1 / 2, 1 / 4]
    assert [row.stands_out for row in rows] == [True, True, False, False]


def test_what_a_head_shares_with_the_median_head_has_no_row() -> None:
    shares = np.array([[[0.0, 0.9], [0.0, 0.8]], [[0.0, 0.7], [0.1, 0.0]]])  # [layer, head, relation]: det is 0 for 3
    model = model_of(made(share=(("layer", "head", "relation"), shares), same=(("layer", "head"), np.zeros((2, 2)))))
    rows = {head: [row.words for row in Card(model, *head).rank_rows] for head in model.heads}
    assert [words[0].rpartition(": ")[2] for words in rows.values()] == ["obj", "obj", "obj", "det"]
    assert {len(words) for words in rows.values()} == {1}


def test_rows_of_two_results_of_a_study_are_told_apart() -> None:
    rows = Card(model_of(profile_result(), profile_result(corpus="wiki")), 2, 3).rank_rows
    words = [row.words for row in rows if row.words.startswith("attention from separators")]
    assert words == [f"attention from separators to separators (profile on {corpus})" for corpus in ("sample", "wiki")]


def test_numbers_of_few_cases_do_not_stand_out() -> None:
    result = profile_result()
    for name in results.means(result):
        if f"{name}_n_examples" in result:
            result[f"{name}_n_examples"] = result[f"{name}_n_examples"] - 1
    few = Card(model_of(result), 2, 3)
    assert few.findings[0].text.startswith("Among the 3 highest heads in 0 of 0 numbers") and not few.rank_rows


def test_the_page_of_all_heads_names_the_best_layers_and_links_their_page(tmp_path: Path) -> None:
    model = model_of(profile_result())
    depth = xr.DataArray([0.1, 0.5], {"layer": [1, 2]}, ("layer",))
    assert "layers.html" not in write_heads([model], tmp_path).read_text()
    vars(model)["layers"] = [LayerNumber("Trees", "Depths", depth, 2)]
    page = write_heads([model], tmp_path).read_text()
    assert "<dd>Other examples chose layer 2 for depths.</dd>" in page and '<a href="layers.html">' in page


def test_a_study_that_nobody_knows_has_a_card_too(tmp_path: Path) -> None:
    values = np.arange(8).reshape(2, 2, 2) / 8
    model = model_of(made(measured=(("layer", "head", "relation"), values)))
    page = write_card(Card(model, 2, 2), tmp_path).read_text()
    assert "measured" in page and "0.88" in page and "1 of 4" in page


def test_the_main_number_of_a_study_that_nobody_knows_is_no_test(tmp_path: Path) -> None:
    axes, values = ("layer", "head"), np.arange(4).reshape(2, 2) / 8
    model = model_of(made(q_value=(axes, values), measured=((*axes, "relation"), np.stack([values, values], -1))))
    assert "measured" in write_card(Card(model, 2, 2), tmp_path).read_text()


def test_the_clearest_maps_are_drawn_with_their_tokens(tmp_path: Path) -> None:
    page = write_card(Card(model_of(with_maps()), 1, 1), tmp_path)
    assert page.name == "head-1-1.html" and "t0" in page.read_text() and "t12" in page.read_text()
    files = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"head-1-1-maps.svg", "head-1-1-standing.svg"} <= files
    other = write_card(Card(model_of(with_maps()), 1, 2), tmp_path, alone=False)
    assert other.name == "head-1-2-tiny-abababab.html" and '-maps"' not in other.read_text()


def test_the_page_of_all_heads_has_every_card_and_only_safe_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    models = [model_of(profile_result(model=evil, corpus=evil), with_maps()), model_of(profile_result())]
    page = write_heads(models, tmp_path).read_text()
    assert page.count('class="card"') == 24 and "2 models; their numbers are not mixed" in page
    assert "<script>alert" not in page and page.count('data-chart="') == 1
    assert len(set(re.findall(r'<details class="card" id="([^"]+)"', page))) == 24


def test_bounds_are_never_mixed_up() -> None:
    rows = numbers(profile_result())
    lower, value, upper = (np.array(rows[name], float) for name in ("lower", "value", "upper"))
    assert (lower <= value).all() and (value <= upper).all()
