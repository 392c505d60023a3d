"""Tables of a result hold every number of it in full precision."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from headscope import HeadscopeError, save_result, tidy
from headscope.results.tables import export_tables
from support.cli import run_command
from support.profile_result import profile_result


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return profile_result()


def test_a_table_has_a_row_for_each_value_with_its_interval_and_count(result: xr.Dataset) -> None:
    table = tidy(result, "entropy")
    assert list(table) == ["layer", "head", "value", "lower", "upper", "n_examples"]
    assert len(table) == result["entropy"].notnull().sum()
    row = table[(table["layer"] == 2) & (table["head"] == 1)].iloc[0]
    assert row["value"] == result["entropy"].sel(layer=2, head=1)
    assert row["upper"] == result["entropy_ci"].sel(layer=2, head=1, bound="upper")
    assert row["n_examples"] == result["entropy_n_examples"]


def test_a_single_number_is_a_table_of_one_row() -> None:
    one = tidy(xr.Dataset({"gap": 0.5, "gap_ci": ("bound", [0.25, 0.75])}, coords={"bound": ["lower", "upper"]}), "gap")
    assert one.to_dict("records") == [{"value": 0.5, "lower": 0.25, "upper": 0.75}]


def test_an_unknown_variable_is_named_with_the_nearest(result: xr.Dataset) -> None:
    with pytest.raises(HeadscopeError, match="no variable 'entrpy'; did you mean 'entropy'"):
        tidy(result, "entrpy")


def test_csv_and_parquet_are_read_back_to_the_last_bit(result: xr.Dataset, tmp_path: Path) -> None:
    number = 0.1 + 0.2
    odd = result.assign(entropy=result["entropy"].copy(data=np.full(result["entropy"].shape, number)))
    (path,) = export_tables(odd, tmp_path, "parquet", ["entropy"])
    pd.testing.assert_frame_equal(pd.read_parquet(path), tidy(odd, "entropy"), check_exact=True)
    (path,) = export_tables(odd, tmp_path, "csv", ["entropy"])
    header, *lines = path.read_text().splitlines()
    for name, texts in zip(header.split(","), zip(*(line.split(",") for line in lines), strict=True), strict=True):
        assert [float(text) for text in texts] == tidy(odd, "entropy")[name].tolist()
    (path,) = export_tables(odd, tmp_path, "latex", ["entropy"])
    assert path.name == "entropy.tex" and repr(number) in path.read_text()


def test_the_command_writes_all_variables(result: xr.Dataset, tmp_path: Path) -> None:
    save_result(result, tmp_path)
    run = run_command("export", str(tmp_path), "--variable", "all")
    assert run.exit_code == 0, run.output
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == sorted(
        f"{name}.csv" for name in result if not str(name).endswith(("_ci", "_n_examples"))
    )
    assert str(tmp_path / "tables" / "entropy.csv") in run.output


def test_the_command_names_what_is_wrong(result: xr.Dataset, tmp_path: Path) -> None:
    save_result(result, tmp_path)
    run = run_command("export", str(tmp_path), "--variable", "nothing")
    assert run.exit_code == 2 and "no variable 'nothing'" in run.output
