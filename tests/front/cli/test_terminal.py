"""Output of commands: where it goes, what it may contain, and which files are written."""

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import Result
from xarray import DataArray

from headscope.front.cli.terminal import laid_out
from headscope.report.printed import by_layer
from support.cli import run_command

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return run_command(*arguments, input=stdin)


def figures(folder: Path) -> set[str]:
    return {path.suffix for path in (folder / "figures").glob("*")}


def test_a_corpus_is_read_from_standard_input(model: str, tmp_path: Path) -> None:
    result = run("profile", model, "-", "-o", str(tmp_path), "--no-figures", stdin="The cat slept.\nA dog ran.\n")
    assert result.exit_code == 0, result.output
    assert "on standard input, 2 examples" in result.stdout
    assert figures(tmp_path) == set() and (tmp_path / "report.html").is_file()
    assert f"report: {tmp_path / 'report.html'}" in result.stdout and " s: loading " in result.stdout


def test_names_of_folders_reach_the_terminal_escaped(model: str, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31m\x9bb"
    result = run("index", model, "sample", "--limit", "2", "-o", str(folder))
    assert result.exit_code == 0 and not CONTROL.search(result.output), result.output
    assert r"a\x1b[31m\x9bb" in result.stdout


def test_quiet_prints_nothing(model: str, tmp_path: Path) -> None:
    result = run("profile", model, "sample", "--limit", "2", "-o", str(tmp_path), "--quiet", "--figures", "svg")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert figures(tmp_path) == {".svg"}


def test_formats_of_figures_are_checked_first(model: str, tmp_path: Path) -> None:
    result = run("profile", model, "sample", "-o", str(tmp_path / "out"), "--figures", "pgn")
    assert result.exit_code == 2 and "figures 'pgn': did you mean 'png'?" in result.stderr
    assert not (tmp_path / "out").exists()


def test_control_characters_of_files_do_not_reach_the_terminal(model: str, tmp_path: Path) -> None:
    """Relations of a treebank, a name of a file and a wrong line are shown with escapes."""
    path = tmp_path / "a\x1b[31m[red].conllu"
    rows = ["1\tDogs\tdog\tNOUN\t_\t_\t2\tn\x1b[2Jsubj\t_\t_", "2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_"]
    path.write_text("# text = Dogs ran\n" + "\n".join(rows) + "\n\n", encoding="utf-8")
    shown = run("syntax", model, str(path), "-o", str(tmp_path / "out"), "--no-figures", "--resamples", "9")
    refused = run("syntax", model, str(path) + "x\ny", "-o", str(tmp_path / "out"))
    assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
    assert "[red]" in shown.stdout
    for text in (shown.stdout, shown.stderr, refused.stderr):
        assert not CONTROL.search(text), text


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--seed", str(10**23)),
        ("--seed", "-1"),
        ("--limit", "9" * 30),
        ("--limit", "9" * 5000),
        ("--resamples", "100001"),
    ],
)
def test_numbers_have_bounds(option: str, value: str, model: str, tmp_path: Path) -> None:
    result = run("profile", model, "sample", "-o", str(tmp_path / "out"), option, value)
    assert result.exit_code == 2 and option in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_of_the_user_in_the_folder_is_left_alone(model: str, tmp_path: Path) -> None:
    (tmp_path / ".headscope").write_text("mine", encoding="utf-8")
    assert run("profile", model, "no-such-file.txt", "-o", str(tmp_path)).exit_code == 2
    assert (tmp_path / ".headscope").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("model", "corpus", "message"),
    [
        ("minilm", "A text that was pasted. " * 300, "corpus 'A text that was pasted. A text that was"),
        ("x" * 5000, "sample", "is too long for a path"),
        ("minilm", "sample:mine.txt", "'mine.txt' is not the bundled sample"),
    ],
)
def test_what_is_no_path_is_one_line(model: str, corpus: str, message: str, tmp_path: Path) -> None:
    result = run("profile", model, corpus, "-o", str(tmp_path))
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert message in result.stderr


def test_nothing_on_standard_input_and_a_file_as_folder_are_named(model: str, tmp_path: Path) -> None:
    result = run("profile", model, "-", "-o", str(tmp_path / "out"), stdin="")
    assert result.exit_code == 2 and "corpus 'standard input' has no examples" in result.stderr
    (tmp_path / "file").write_text("in the way")
    result = run("profile", model, "sample", "-o", str(tmp_path / "file"))
    assert result.exit_code == 2 and f"'{tmp_path / 'file'}' is a file; choose a folder" in result.stderr


def test_small_numbers_are_not_printed_as_zero(model: str, tmp_path: Path) -> None:
    result = run("gradients", model, "sample", "--limit", "2", "-o", str(tmp_path), "--no-figures")
    rows = [line for line in result.stdout.splitlines() if line.startswith(" gradient")]
    numbers = [float(number) for row in rows for number in re.findall(r"\d\S*", row)]
    assert len(rows) == 4 and numbers and min(numbers) > 0


def test_columns_that_a_narrow_terminal_does_not_show_are_named() -> None:
    def text(width: int) -> str:
        console = Console(width=width, record=True, file=StringIO())
        console.print(laid_out(by_layer(values), width))
        return console.export_text()

    array = DataArray(np.ones((6, 2)), {"layer": range(1, 7), "head": [1, 2]}, ("layer", "head"), "score")
    values = array.to_dataset().assign_attrs(study="mine")
    assert "no room" not in text(100)
    assert "layers for which the terminal has no room: 2, 5; " in text(60)
