"""Reproductions as data: what headscope ships, wrong entries, and numbers of results beside the paper's."""

import json
import os
import re
from pathlib import Path

import pytest
import xarray as xr
import yaml

from headscope import results
from headscope.errors import HeadscopeError
from headscope.papers.data_sets import DATA_SETS, find
from headscope.papers.reproduced import Cell, rows
from headscope.papers.reproduction import papers, read_file, read_reproduction
from headscope.papers.reproduction_page import (
    Reproduced,
    ReproducedItem,
    _table,
    read_reproduced,
    summary,
    write_reproduction,
)
from headscope.papers.reproduction_record import MadeRun, ReproductionRecord, write_record
from headscope.report.wording import LEVELS, Estimate, number
from support.profile_result import profile_result

HOSTILE = "<script>alert(1)</script>"
RUN = {"name": "surface", "study": "profile", "data": {"corpus": "paragraphs"}}
HIGHEST = {"words": "the highest", "number": {"variable": "entropy"}, "show": "highest", "figures": ["3.9"]}
ITEM = {"where": "Table 1", "title": "Entropy", "run": "surface", "columns": [{"words": "Nats"}], "rows": [HIGHEST]}


def written(folder: Path, run: object = None, item: object = None, **more: object) -> Path:
    data = {"schema": 1, "paper": "mine", "title": "T", "model": "m"}
    data |= {"runs": [run or RUN], "items": [item or ITEM]} | more
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", papers())
def test_an_entry_is_read_and_says_where_its_figures_are_from(name):
    paper = read_reproduction(name)
    assert paper.name == name and paper.scope and paper.easy and paper.hard
    assert all(item.source and item.level in LEVELS for item in paper.items)
    assert {item.run for item in paper.items} <= {run.name for run in paper.runs}


@pytest.mark.parametrize(
    ("run", "item", "message"),
    [
        (RUN | {"study": "profil"}, None, "run 1: no study 'profil'; did you mean 'profile'"),
        (RUN | {"data": {"corpus": "paragraph"}}, None, "no data set 'paragraph'; did you mean 'paragraphs'"),
        (RUN | {"code": "rm"}, None, "run 1: no field 'code'"),
        (RUN | {"model": "tuned/model"}, None, "reads what 'tuned' makes, which is no run before it"),
        (RUN | {"results": {"beside": RUN["name"]}}, None, "which is no run before it"),
        (RUN | {"deviations": ["At most 1", 0.5]}, None, "a list of sentences"),
        (None, ITEM | {"run": "other"}, "item 1: no run 'other'"),
        (None, ITEM | {"rows": []}, "it has rows, or `by: layer`"),
        (None, ITEM | {"rows": [HIGHEST | {"figures": []}]}, "has 0 figures for 1 columns"),
        (None, ITEM | {"rows": [HIGHEST | {"show": "best"}]}, "show 'best'; use value"),
        (None, ITEM | {"rows": [{"words": "x", "figures": ["1"]}]}, "row 'x' has no number"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, run, item, message):
    with pytest.raises(HeadscopeError, match=message):
        read_file(written(tmp_path, run, item))


def test_an_unknown_paper_is_refused_with_a_near_name():
    with pytest.raises(HeadscopeError, match="paper 'clark' is unknown; did you mean 'clark2019'"):
        read_reproduction("clark")


def test_data_sets_are_found_by_name_the_papers_own_first(tmp_path):
    folder = tmp_path / "ud" / "english"
    folder.mkdir(parents=True)
    (folder / "en_ewt-ud-dev.conllu.gz").touch()
    found = find(tmp_path, ["treebank", "framenet"])
    assert list(found) == ["treebank"] and "other ones than Stanford's" in found["treebank"].deviation
    (tmp_path / "ptb-dev.conllu").touch()
    assert find(tmp_path, ["treebank"])["treebank"].deviation == ""
    (tmp_path / "GLUE" / "MRPC").mkdir(parents=True)
    (tmp_path / "GLUE" / "MRPC" / "dev.tsv").touch()
    assert find(tmp_path, ["glue"])["glue"].path == tmp_path / "GLUE"
    with pytest.raises(HeadscopeError, match="does not exist; name the folder of the data sets"):
        find(tmp_path / "none", list(DATA_SETS))


def test_numbers_are_those_of_the_result(tmp_path):
    result = profile_result()
    item = read_file(written(tmp_path)).items[0]
    (row,) = rows(item, result, "")
    assert row.cells[0].text.startswith(number(float(result["entropy"].max()))) and "head " in row.cells[0].text
    (missing,) = rows(item, result.drop_vars("entropy"), "")
    assert missing.cells[0].text == "no entropy here"
    (absent,) = rows(item, None, "not measured")
    assert absent.cells[0].text == "not measured"


def test_heads_above_a_limit_are_counted(tmp_path):
    counted = HIGHEST | {"show": "count above", "limit": 0.5, "number": {"variable": "sep_to_sep"}}
    item = read_file(written(tmp_path, item=ITEM | {"rows": [counted]})).items[0]
    result = profile_result()
    (row,) = rows(item, result, "")
    assert row.cells[0].text.startswith(f"{int((result['sep_to_sep'] > 0.5).sum())} (of {result['sep_to_sep'].size}")


def test_labels_that_stand_in_are_named(tmp_path):
    array = xr.DataArray([0.4, 0.6], {"relation": ["all", "obj"]}, ("relation",))
    result = xr.Dataset({"chosen_accuracy": array})
    row = {"words": "dobj", "at": {"relation": "dobj"}, "instead": {"relation": "obj"}, "figures": ["86.8"]}
    item = ITEM | {"rows": [row], "percent": True, "columns": [{"words": "Head", "number": "chosen_accuracy"}]}
    (found,) = rows(read_file(written(tmp_path, item=item)).items[0], result, "")
    assert found.cells[0].text == "60.0 (obj)"


def test_layers_of_both_models_are_rows(tmp_path):
    array = xr.DataArray([0.25, 0.5], {"layer": [1, 2]}, ("layer",))
    item = {key: value for key, value in ITEM.items() if key != "rows"} | {"by": "layer"}
    column = {"words": "Trees", "number": "uuas", "layers": {2: ".4", 3: ".6"}}
    found = rows(
        read_file(written(tmp_path, item=item | {"columns": [column]})).items[0], xr.Dataset({"uuas": array}), ""
    )
    assert [(row.words, row.cells[0].text, row.cells[0].figure) for row in found] == [
        ("layer 1", "0.25", ""),
        ("layer 2", "0.50", ".4"),
        ("layer 3", "", ".6"),
    ]


def test_the_embeddings_are_layer_0(tmp_path):
    layers = xr.DataArray([0.25, 0.5], {"layer": [1, 2]}, ("layer",))
    bounds = {
        "norm_ci": (("layer", "bound"), [[0.2, 0.3], [0.4, 0.6]]),
        "embeddings_norm_ci": (("bound",), [0.0, 0.25]),
    }
    result = xr.Dataset({"norm": layers, "embeddings_norm": 0.125} | bounds, {"bound": ["lower", "upper"]})
    item = {key: value for key, value in ITEM.items() if key != "rows"} | {"by": "layer"}
    column = {"words": "Length", "number": "norm", "layers": {0: "18.9"}}
    item = read_file(written(tmp_path, item=item | {"columns": [column]})).items[0]
    first, second, _ = rows(item, result, "")
    assert (first.words, first.cells[0].text, first.cells[0].figure) == ("embeddings", "0.12 [0.00, 0.25]", "18.9")
    assert (second.words, second.layer, second.cells[0].text) == ("layer 1", 1, "0.25 [0.20, 0.30]")
    (alone, *_) = rows(item, result.drop_vars(["embeddings_norm", "embeddings_norm_ci"]), "")
    assert (alone.words, alone.cells[0].text) == ("embeddings", "")


def test_a_row_may_read_other_variables_than_its_table(tmp_path):
    result = xr.Dataset({"uuas": 0.5, "uuas_baseline": ("baseline", [0.25])}, {"baseline": ["linear"]})
    row = {"words": "order", "suffix": "_baseline", "at": {"baseline": "linear"}, "figures": ["48.9"]}
    plain = {"words": "best", "figures": ["79.8"]}
    item = ITEM | {"percent": True, "columns": [{"words": "UUAS", "number": "uuas"}], "rows": [row, plain]}
    found = rows(read_file(written(tmp_path, item=item)).items[0], result, "")
    assert [one.cells[0].text for one in found] == ["25.0", "50.0"]


def test_a_column_without_figures_of_the_paper_stands_alone(tmp_path):
    columns = [{"words": "UUAS", "number": "uuas"}, {"words": "Depth", "number": "norm"}]
    item = ITEM | {"columns": columns, "rows": [{"words": "best", "figures": ["79.8", ""]}]}
    item = read_file(written(tmp_path, item=item)).items[0]
    made = ReproducedItem(item, rows(item, None, "not measured"), (), "")
    assert [column.words for column in _table(made, "item").columns] == ["UUAS, here", "UUAS, paper", "Depth, here"]


def test_a_figure_lies_within_the_interval_or_not():
    assert Cell("86.8 (8-10)", Estimate(0.85, 0.8, 0.9), percent=True).within is True
    assert Cell(".2", Estimate(0.85, 0.8, 0.9)).within is False
    assert Cell("yes", Estimate(0.85, 0.8, 0.9)).within is None and Cell(".2").within is None


def test_few_cases_are_named(tmp_path):
    result = xr.Dataset(
        {"uuas": ("probe", [0.25, 0.5]), "uuas_n_examples": ("probe", [49, 50])}, {"probe": ["few", "many"]}
    )
    items = [{"words": name, "at": {"probe": name}, "figures": ["1"]} for name in ("few", "many")]
    item = ITEM | {"percent": True, "columns": [{"words": "UUAS", "number": "uuas"}], "rows": items}
    found = rows(read_file(written(tmp_path, item=item)).items[0], result, "")
    assert [one.cells[0].text for one in found] == ["25.0 (n = 49)", "50.0"]
    assert Cell("", Estimate(0.5), "head 1-2", n=9).text == "0.50 (head 1-2, n = 9)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction of which one run was made."""
    directory = tmp_path_factory.mktemp("reproduction")
    runs = [MadeRun(run.name, lacks=f"no data {HOSTILE}") for run in read_reproduction("clark2019").runs]
    runs[0] = MadeRun("surface", f"headscope profile {HOSTILE}", (f"Other text {HOSTILE}.",))
    write_record(ReproductionRecord("clark2019", HOSTILE, 9, tuple(runs)), directory)
    results.save(profile_result(), directory / "surface")
    return directory


def test_the_page_has_the_sections_of_a_report_and_escapes_all(folder):
    html = write_reproduction(folder).read_text(encoding="utf-8")
    positions = [
        html.index(f"<h2>{title}</h2>") for title in ("Scope", "Method", "Results", "What was easy", "What was hard")
    ]
    assert positions == sorted(positions) and HOSTILE not in html and "&lt;script&gt;alert" in html
    assert html.index("Table 1: ") < html.index("Table 2: ") < html.index("Table 3: ")
    assert "Not measured: no data" in html and "94.3 (8-11)" in html
    assert not re.search(r"<tbody>\s*</tbody>", html)  # of a figure without numbers and without the paper's


@pytest.fixture(scope="module")
def made(folder: Path) -> Reproduced:
    return read_reproduced(folder)


def test_the_summary_counts_figures(made):
    measured = [cell for cell in made.cells if cell.estimate]
    assert f"Of {len(made.cells)} figures of the paper {len(measured)} have a number" in summary(made)
    assert 5 < len(measured) < len(made.cells)


def test_deviations_that_stand_above_are_folded_and_an_axis_says_what_is_measured(made):
    items = {one.item.where: one for one in made.items}
    first, figure, separators = (items[where] for where in ("Section 3.1", "Figure 2", "Section 3.2"))
    assert first.deviations == figure.deviations and (first.again, figure.again) == (False, True)
    assert not separators.again  # it has one of its own
    assert figure.quantity == ("attention_to", "share of attention") and items["Table 1"].quantity == ("value", "")


def test_a_run_outside_the_folder_is_not_read(folder, tmp_path):
    outside = MadeRun(os.path.relpath(folder / "surface", tmp_path))
    write_record(ReproductionRecord("clark2019", "m", 9, (outside,)), tmp_path)
    with pytest.raises(HeadscopeError, match="leads out of folder"):
        read_reproduced(tmp_path)


def test_a_record_that_is_none_is_refused(tmp_path):
    for text in ("{", json.dumps({"paper": 1}), json.dumps([])):
        (tmp_path / "reproduction.json").write_text(text, encoding="utf-8")
        with pytest.raises(HeadscopeError, match="is no record of a reproduction; run it again"):
            read_reproduced(tmp_path)
