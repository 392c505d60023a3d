"""Wrong usage is one line, with the wrong word, a similar one, and where help is; status 2."""

import pytest

from headscope import catalog
from headscope.studies.layers.layers.sampling import TASKS
from support.cli import run_command


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("profile --lmit 3", "no such option '--lmit': did you mean '--limit'? see 'headscope profile --help'"),
        ("profile -z", "no such option '-z'; see 'headscope profile --help'"),
        (
            "patterns evaluate x --weihgts y",
            "no such option '--weihgts': did you mean '--weights'? see 'headscope patterns evaluate --help'",
        ),
        ("--verzion", "no such option '--verzion': did you mean '--version'? see 'headscope --help'"),
        ("profil", "no such command 'profil': did you mean 'profile'? see 'headscope --help'"),
        ("profile a b c d", "got unexpected extra argument(s) (c d); see 'headscope profile --help'"),
        ("report", "missing argument 'DIR...'; see 'headscope report --help'"),
        ("profile --limit", "option '--limit' requires an argument; see --help"),
        (
            "finetune --init froze",
            "option --init 'froze': use one of 'finetuned', 'pretrained', 'random', 'frozen'; see",
        ),
        ("profile --seed x", "option --seed 'x': it should be a valid integer"),
        ("view --port 99999999", "option --port '99999999': it should be less than or equal to 65535"),
        ("profile \x1b[31m b c", "got unexpected extra argument(s) (c); see"),
    ],
)
def test_wrong_usage_is_one_line(line: str, message: str) -> None:
    arguments = line.split(" ")
    result = run_command(*arguments)
    assert result.exit_code == 2 and not result.stdout
    assert result.stderr.count("\n") == 1 and "\x1b" not in result.stderr
    assert result.stderr.startswith(f"headscope: {message}")


def test_no_command_shows_the_help() -> None:
    result = run_command()
    assert result.exit_code == 2 and "Usage: headscope" in result.output


def test_help_has_words_for_values_and_none_for_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 120)
    lines = run_command("finetune", "--help").stdout.splitlines()
    options = {line.split()[1]: line for line in lines if line.startswith("│ --")}
    assert "<" not in options["--overwrite"] and "<" not in options["--table"]
    assert " N " in options["--epochs"] and "best | last" in options["--keep"] and " TASK " in options["--task"]


@pytest.mark.parametrize(
    "words", [[], *([catalog.command_name(name)] for name in catalog.names("studies")), ["head"], ["view"], ["report"]]
)
def test_help_shows_no_python_type(words: list[str]) -> None:
    shown = run_command(*words, "--help").stdout
    assert "<" not in shown.replace("<=", "") and " TEXT " not in shown.partition("--text")[0]


@pytest.mark.parametrize(
    ("study", "names"),
    [
        ("layers", list(TASKS)),
        ("layers", catalog.names("corpora/readers")),
        ("cloze", [name for name in catalog.listed("corpora/suites/readers", "SUITES") if name != "own"]),
    ],
)
def test_help_lists_the_names_that_an_option_takes(study: str, names: list[str]) -> None:
    shown = run_command(study, "--help", terminal_width=200).stdout
    text = " ".join(shown.replace("│", " ").split())
    assert ", ".join(names) in text
