"""The command `view`: its refusals, before anything is loaded, and a run of it."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from headscope import results
from headscope.front.cli.view import split
from support.cli import run_command
from support.profile_result import profile_result
from support.tiny import save_tiny

CHECKED = """
import json, sys, headscope.front.cli.app as cli
for words in json.loads(sys.argv[1]):
    sys.argv = ["headscope", "view", *words, "--no-browser"]
    try:
        cli.main()
    except SystemExit as ended:
        assert ended.code == 2, words
assert not {"torch", "transformers"} & set(sys.modules)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model in `model`, and results about another in `out`."""
    directory = tmp_path_factory.mktemp("view")
    save_tiny(directory / "model")
    results.save(profile_result(), directory / "out")
    (directory / "empty").mkdir()
    return directory


def test_a_first_folder_of_results_is_no_model(folder: Path) -> None:
    out, model = str(folder / "out"), str(folder / "model")
    assert split([out]) == ("minilm", [out])
    assert split([model, out]) == (model, [out])
    assert split([str(folder / "empty")]) == (str(folder / "empty"), [])


@pytest.mark.thorough
def test_what_is_wrong_is_reported_before_torch_is_imported(folder: Path) -> None:
    lines = {
        f"folder '{folder}/no-such' does not exist": ["minilm", f"{folder}/no-such"],
        "has no results (result.nc)": ["minilm", f"{folder}/empty"],
        "is no folder and no hub name": [f"{folder}/no-such"],
        "the folder has no config.json": ["--with", f"{folder}/empty"],
        "leave out --with": ["--steps", f"{folder}/empty", "--with", "minilm"],
        "holds no kept steps; train with finetune --keep-steps 8": ["--steps", f"{folder}/empty"],
        "does not exist": ["--corpus", f"{folder}/no-such.txt"],
    }
    command = [sys.executable, "-c", CHECKED, json.dumps([*lines.values()])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert [line for line, said in zip(lines, done.stderr.splitlines(), strict=True) if line not in said] == []


def test_a_port_that_is_taken_is_reported_first(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run_command("view", folder / "no-such", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 2 and "--port" in result.stderr


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra_one_line_names_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = run_command("view")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"headscope: local pages need {package}: '{sys.executable}'")


def test_results_about_another_model_are_refused(folder: Path) -> None:
    result = run_command("view", folder / "model", folder / "out", "--no-browser")
    assert result.exit_code == 2
    assert "no result is about model" in result.stderr and "but about tiny" in result.stderr


def test_the_address_is_the_first_line_and_ctrl_c_ends_it(folder: Path) -> None:
    command = [sys.executable, "-c", "from headscope.front.cli import main; main()", "view", str(folder / "model")]
    process = subprocess.Popen(
        [*command, "--no-browser", "--device", "cpu", "--text", "It rained."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address, _, state = process.stdout.readline().strip().partition("#")
        assert address.startswith("http://127.0.0.1:") and state == "t=It+rained."
        with urlopen(f"{address}api/model", timeout=60) as answer:
            assert json.load(answer)["models"][0]["heads"] == [4, 4, 4]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        assert (rest, process.returncode) == ("", 0), errors
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--export", "view.html"], "--export 'view.html' needs a text; add --text TEXT"),
        (["--against", "Hi."], "--against needs a text; add --text TEXT"),
        (["--text", "Hi.", "--against", "Ho.", "--with", "x"], "--against compares two texts in one model; leave out"),
        (["--export", "view.gif", "--text", "Hi."], "format 'gif' is unknown; there are: html, svg, pdf, png"),
        (["--export", "view.pdf", "--text", "Hi.", "--state", "v=mpa"], "state: there is no view 'mpa'"),
    ],
)
def test_a_wrong_export_is_refused_before_a_model_is_loaded(arguments: list[str], line: str) -> None:
    ended = run_command("view", "no-such-model", *arguments)
    assert ended.exit_code == 2 and line in ended.stderr and "Traceback" not in ended.output


def test_a_view_is_saved_without_a_server(folder: Path, tmp_path: Path) -> None:
    for name, start in (("view.html", b"<!doctype html>"), ("view.svg", b"<svg")):
        words = ["view", str(folder / "model"), "--export", str(tmp_path / name), "--text", "The cat slept."]
        ended = run_command(*words, "--second", "It rained.", "--state", "v=map&h=2-3")
        assert ended.exit_code == 0, ended.output
        assert ended.stdout.strip() == str(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
