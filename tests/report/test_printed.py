"""The tables that the terminal prints, as files."""

import csv
import io
from pathlib import Path

import pytest

from headscope import HeadscopeError, save_result
from headscope.report.printed import content, export_printed, printed, rounded
from headscope.report.tables import Column, Table
from support.cli import run_command
from support.profile_result import profile_result

CELLS = [(("a|b", 1), [("0.5173", "0.42, 0.61"), ("82.46%", "81.2%, 83.7%")]), (("50%", 2), [None, ("3", "")])]
TABLE = Table("score", "scores", ("relation", "layer"), (Column("one", "One"), Column("two", "Two")), CELLS)


def test_csv_has_numbers_as_printed_and_their_intervals() -> None:
    rows = list(csv.DictReader(io.StringIO(content(TABLE, "csv"))))
    assert rows[0] == {
        "relation": "a|b",
        "layer": "1",
        "One": "0.5173",
        "One: 95% interval": "0.42, 0.61",
        "Two": "82.46%",
        "Two: 95% interval": "81.2%, 83.7%",
    }
    assert rows[1]["One"] == "" and rows[1]["Two"] == "3"


def test_latex_is_rounded_to_what_the_interval_carries() -> None:
    text = content(TABLE, "latex")
    start = "\\begin{table}\n\\centering\n\\caption{Scores}\n\\label{tab:score}\n\\begin{tabular}{llrr}\n\\toprule"
    assert text.startswith(start) and text.endswith("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
    assert "a|b & 1 & 0.52 & 82.5\\% \\\\" in text and "50\\% & 2 &  & 3 \\\\" in text


def test_markdown_escapes_its_own_marks() -> None:
    lines = content(TABLE, "markdown").splitlines()
    assert lines[:3] == [
        "| relation | layer | One | Two |",
        "| --- | --- | ---: | ---: |",
        "| a\\|b | 1 | 0.52 | 82.5% |",
    ]


@pytest.mark.parametrize(
    ("text", "interval", "expected"),
    [
        ("0.51731", "0.5123, 0.5223", "0.517"),
        ("0.51731", "0.5163, 0.5183", "0.5173"),
        ("-0.0213", "-0.0513, 0.0087", "-0.02"),
        ("312.6", "290.1, 335.1", "313"),
        ("3e-05", "1e-05, 5e-05", "0.00003"),
        ("0.5", "0.5, 0.5", "0.5"),
        ("3-9", "0.1, 0.2", "3-9"),
    ],
)
def test_digits_are_those_in_which_the_interval_varies(text: str, interval: str, expected: str) -> None:
    assert rounded(text, interval) == expected


def test_the_command_writes_what_the_terminal_prints(tmp_path: Path) -> None:
    result = profile_result()
    save_result(result, tmp_path)
    for format, suffix in (("csv", "csv"), ("latex", "tex"), ("markdown", "md")):
        run = run_command("export", str(tmp_path), "--format", format)
        assert run.exit_code == 0, run.output
        written = {path.name for path in (tmp_path / "tables").glob(f"*.{suffix}")}
        assert written == {f"by_layer.{suffix}", f"token_share.{suffix}"}
    table, _ = printed(result)
    assert [words for (words,), _ in table.rows][:1] == ["attention to [CLS]"]
    assert len(table.columns) == result.sizes["layer"]


def test_a_variable_is_printed_with_all_heads_or_the_largest(tmp_path: Path) -> None:
    result = profile_result()
    result["entropy"][0, 1] = -99.5
    save_result(result, tmp_path / "survey" / "profile")
    words = ("export", str(tmp_path / "survey"), "--format", "latex", "--variable", "entropy", "-o", str(tmp_path))
    assert run_command(*words).exit_code == 0
    text = (tmp_path / "profile" / "entropy.tex").read_text(encoding="utf-8")
    assert text.count("\\\\\n") == 1 + result["entropy"].size and "\n1-2 & $-$99" in text
    assert run_command(*words, "--top", "3").exit_code == 0
    rows = (tmp_path / "profile" / "entropy.tex").read_text(encoding="utf-8").split("\\midrule\n")[1].splitlines()
    assert rows[0].startswith("1-2 & $-$99") and rows[3] == "\\bottomrule"
    result = result.assign_coords(step=range(40_001))
    result["absent"] = (result["entropy"] * float("nan")).assign_attrs(result["entropy"].attrs)
    result["large"] = ("step", [0.5] * 40_001, result["entropy"].attrs)
    save_result(result, tmp_path / "survey" / "profile")
    assert run_command(*words[:4], "--variable", "all", "-o", str(tmp_path / "all")).exit_code == 0
    written = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "all" / "profile").iterdir()}
    assert written["large"].count("0.5 ") == 40_001 and "\\midrule\n\\bottomrule" in written["absent"]
    large = run_command(*words[:4], "--variable", "large")
    assert large.exit_code == 2 and "has 40,001 values, too many to print; use csv" in large.stderr
    top = run_command("export", str(tmp_path / "survey"), "--top", "3")
    assert top.exit_code == 2 and "--top 3 is for latex and markdown; csv has all rows" in top.stderr
    missing = run_command("export", str(tmp_path / "survey"), "--format", "latex", "--variable", "entrpy")
    assert missing.exit_code == 2 and "did you mean 'entropy'" in missing.stderr


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="format 'cvs' is unknown; did you mean 'csv'"):
        export_printed(profile_result(), tmp_path, "cvs")  # type: ignore[arg-type]
