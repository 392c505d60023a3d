"""Every command and example of README and the pages in docs/ runs as it stands, on small parts of the data it names."""

import ast
import itertools
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import headscope
from headscope import catalog
from headscope.front.cli.app import application
from support import tiny_families
from support.commands import commands
from support.pages import WITHOUT_FILES, drawn_once, empty_pages
from support.shelf import ROWS, put_models, stock
from support.tiers import chosen
from support.unlabelled import folder as map_folder

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
# A tiny model stands for the built-in model and for models of the hub.
DECODER = "./my-decoder"
INSTEAD = {
    "minilm": "./my-model",
    "bert-base-uncased": "./my-model",
    "gpt2": DECODER,
    "MODEL": "./my-model",
    "MAPS": "maps",
    # The tokenizer of the tiny models has no piece for these words.
    "The capital of France is": "and of",
    "The capital of Italy is": "and the",
    "Paris,Rome": "of,the",
}
QUICK = {
    "ablate": ["--limit", "12"],
    "cloze": ["--per-condition", "3"],
    "finetune": ["--epochs", "1"],
    "kv": ["--window", "2", "--length", "30", "--texts", "2"],
    "landscape": ["--loss-examples", "4", "--directions", "2", "--positions", "3", "--plane", "2"],
    "pretrain": ["--epochs", "1", "--shapes", "1x2x8", "--seeds", "1"],
    "pretrain-head": ["--epochs", "1"],
    "layers": ["--cases", "40", "--penalties", "10", "--no-random", "--no-codes", "--no-mix"],
    "lens": ["--predictions", "40", "--map-predictions", "40"],
    "probe": ["--epochs", "1", "--seeds", "1"],
    "attributions": ["--scored", "2", "--flow", "1", "--altered", "1"],
    "structure": ["--epochs", "1", "--rank", "4"],
    "shrink": ["--best-effort", "--epochs", "1", "--groups", "2"],
    "survey": ["--only", "profile,syntax"],
    "reproduce": ["--plan"],
    "induction": ["--contexts", "16", "--sequences", "4", "--copy", "6", "--texts", "2", "--tokens", "50"],
}
STUDIES = {"survey", *map(catalog.command_name, catalog.names("studies"))}
AFTER = ("join", "head", "report", "view", "claims", "verify")  # these read what other commands of a page write


@pytest.fixture(scope="session")
def shelf(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small parts of all data sets, which nothing writes to."""
    return stock(tmp_path_factory.mktemp("shelf"), real_data)


def model_size(page: str) -> tuple[int, int]:
    r"""Layers and heads that the tiny model of a page needs: those that its commands name or need, and at least 2 by 3.

    >>> model_size("```sh\nheadscope head 3-9 4-7 out\n```\nHead 5-2 is another.")
    (4, 9)
    """
    lines = "\n".join([*commands(page), *python_examples(page)])
    named = [tuple(map(int, head)) for head in re.findall(r"\b(\d+)-(\d+)\b", lines)]
    restored = [int(layers) for layers in re.findall(r"--restore (\d+)", lines)]
    layers = max([2, *restored, *(layer for layer, _ in named)])
    # of each example one map of each head can be labelled
    labelled = [-(-int(number) // (ROWS * layers)) for number in re.findall(r"--number (\d+)", lines)]
    return layers, max([3, *labelled, *(head for _, head in named)])


def python_examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


@pytest.fixture
def workplace(shelf: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shelf as the current folder; pages are not served, and training is short."""
    shutil.copytree(shelf, tmp_path, symlinks=True, dirs_exist_ok=True)
    put_models(tmp_path, *model_size(PAGES[name]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("headscope.viewer.serving.serve_on", lambda *given: None)
    for name in WITHOUT_FILES:
        monkeypatch.setattr(name, MagicMock())
    with drawn_once():
        yield tmp_path


def run(command: str) -> str:
    """Run a command with a tiny model; return what it prints."""
    words = [INSTEAD.get(word, word) for word in shlex.split(command)[1:]]
    if words[0] in ("cloze", "lens") and words[1] != DECODER:
        words[1] = "./my-words-model"
    words += QUICK.get(words[0], [])
    if "sample" in words and "--limit" not in words and words[0] in STUDIES:
        words += ["--limit", "12"]
    result = CliRunner().invoke(application(words), words)
    assert result.exit_code == 0, f"{command}: {result.output}"
    return result.stdout


def in_order(page: str) -> list[str]:
    """The commands of a page, each once: as they stand, but those that read the results of others at the end."""
    return sorted(dict.fromkeys(commands(page)), key=lambda command: shlex.split(command)[1] in AFTER)


WITH_COMMANDS = [name for name, page in PAGES.items() if commands(page)]


# Options of other programs, and of those in a checkout.
FOREIGN = {
    *("--constraint", "--editable", "--index-url", "--torch-backend", "--to", "--help"),
    "--annotator",
    "--number",
}


def test_options_that_pages_name_are_there() -> None:
    """Those of figures in docs/measured may be gone: their commands are of the commit that measured them."""
    tools = ("claims", "head", "index", "join", "list", "push", "rerun", "report", "reproduce", "verify", "view")
    known = set(FOREIGN)
    for name in (*STUDIES, *tools, "export"):
        command: Any = get_command(application([name]))
        with command.make_context("headscope", [name]) as context:
            found = command.resolve_command(context, [name])[1]
        known |= {option for one in found.params for option in (*one.opts, *one.secondary_opts)}
    for name, page in PAGES.items():
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page))
        assert name.startswith("docs/measured") or named <= known, name


# These read what studies wrote, or write no result.
TOOLS = {*AFTER, "index", "export", "rerun", "reproduce"}


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_of_a_page_do_not_replace_each_other(name: str) -> None:
    """A result of another command is not replaced; a survey keeps its own of the same model and texts."""
    inputs: dict[str, set[str]] = {}
    for command in commands(PAGES[name]):
        words = shlex.split(command)[1:]
        if words[0] not in TOOLS and "evaluate" not in words and "--plan" not in words:
            folder = words[words.index("-o") + 1] if "-o" in words else " ".join(words[:2])
            read = itertools.takewhile(lambda word: word[0] != "-", words) if words[0] == "survey" else words
            inputs.setdefault(folder, set()).add(" ".join(read))
    assert [folder for folder, several in inputs.items() if len(several) > 1] == []


# The commands of the README and of the first page run first; what other pages run is thorough.
FIRST = ("README.md", "docs/index.md")


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_of_the_page_have_known_options(name: str) -> None:
    for written in commands(PAGES[name]):
        words = shlex.split(written)[1:]
        group: Any = get_command(application(words))
        with group.make_context("headscope", [*words]) as context:
            _, command, rest = group.resolve_command(context, words)
            # a study's verb, such as `patterns evaluate`, is a command of a group
            while hasattr(command, "resolve_command") and rest and rest[0] in command.commands:
                _, command, rest = command.resolve_command(context, rest)
            assert command.make_context(command.name, rest, parent=context), written


# The models of these pages are downloaded by `make test-real`.
OF_REAL_MODELS = ("docs/measured/antiberty.md", "docs/measured/gemma-3-270m.md")
RUN = [name for name in WITH_COMMANDS if name not in OF_REAL_MODELS]


@pytest.mark.parametrize("name", chosen(RUN, lambda name: name.startswith(FIRST)))
def test_commands_of_the_page_run(name: str, workplace: Path) -> None:
    if "MAPS" in PAGES[name]:
        map_folder(Path("maps"), label="block")
    if name == "docs/pruned.md":
        run("headscope ablate MODEL --task mrpc --data glue -o out/ablate")
    for command in in_order(PAGES[name]):
        run(command)
        words = shlex.split(command)
        if "-o" in words and words[1] not in ("patterns", "head", "index", "claims", "reproduce"):
            page = "index.html" if words[1] == "survey" else "report.html"
            assert (workplace / words[-1] / page).is_file() or "-o out " in command


WITH_PYTHON = [name for name, page in PAGES.items() if "```python" in page]


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_names_of_python_examples_are_there(name: str) -> None:
    for node in ast.walk(ast.parse("\n".join(python_examples(PAGES[name])))):
        match node:
            case ast.Attribute(value=ast.Name(id="headscope"), attr=public):
                assert hasattr(headscope, public)
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("headscope"):
                assert [part.name for part in names if not hasattr(import_module(module), part.name)] == []


@pytest.mark.filterwarnings("ignore:'pin_memory'")  # of a Trainer on a machine without a GPU
@pytest.mark.parametrize("name", chosen(WITH_PYTHON, lambda name: name.startswith(FIRST)))
def test_python_examples_of_the_page_run(name: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load, read = headscope.load, headscope.read
    monkeypatch.setattr(
        headscope, "load", lambda source, **options: load(INSTEAD[source] if source in INSTEAD else source, **options)
    )
    monkeypatch.setattr(headscope, "read", partial(read, limit=9))
    shutil.copytree("my-model", "out/pruned/model")
    examples = python_examples(PAGES[name])
    if any('"out' in example for example in examples):
        run("headscope profile minilm texts.txt -o out/profile")
    for example in examples:
        exec(compile(example, name, "exec"), {})


def test_the_demo_is_the_first_command_of_the_readme() -> None:
    (command,) = re.findall(r"\$\(BIN\)/headscope (survey.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    first, *_ = re.findall(r"\.venv/bin/headscope (.*)\n", README)
    assert first == command, "by uv and by make the same command"


# A study of the demo that is quick, and how its line of the README begins.
LINES = [
    ("profile", "Head 3-10 looks at the same word"),
    pytest.param("gradients", "Attention to [CLS] hardly", marks=pytest.mark.thorough),
]


@pytest.mark.always
@pytest.mark.parametrize(("study", "line"), LINES)
def test_the_survey_prints_what_the_readme_shows(
    study: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["survey", "minilm", "sample", "--only", study, "--no-figures", "-o", "out/demo"]
    with empty_pages():
        printed = CliRunner().invoke(application(words), words).stdout.splitlines()
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    first, *_, last = shown.splitlines()
    assert (first, last) == (printed[0], printed[-1])
    (same,) = [one for one in shown.splitlines() if one.startswith(line)]
    assert same in printed
    counts = [
        re.findall(r"^Of (\d+) claims", "\n".join(lines), re.MULTILINE) for lines in (shown.splitlines(), printed)
    ]
    assert counts[0] == counts[1] and len(counts[0]) == 1


def test_files_that_the_readme_links_are_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) >= 4
    assert [link for link in links if not (ROOT / link.partition("#")[0]).is_file()] == []


def test_each_question_has_its_place() -> None:
    table = PAGES["docs/index.md"].partition("## How do I\n")[2].partition("\n## ")[0]
    links = re.findall(r"^\| \w.* \| \[.*\]\((.*)\) \|$", table, re.MULTILINE)
    assert len(links) == 16
    for page, _, anchor in (link.partition("#") for link in links):
        titles = re.findall(r"^#+ (.*)$", PAGES[f"docs/{page or 'index.md'}"], re.MULTILINE)
        anchors = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]
        assert not anchor or anchor in anchors, f"{page}#{anchor}"
    assert (
        len(re.findall(r"^\| [^*]", README.partition("| **First** | |\n")[2].partition("| **")[0], re.MULTILINE)) == 5
    )


def test_the_number_of_exact_model_types_is_that_of_the_tests() -> None:
    for page in ("README.md", "docs/inputs.md"):
        assert set(re.findall(r"(\d+) model types", PAGES[page])) == {str(len(tiny_families.EXACT))}, page
    assert f"{len(tiny_families.REFUSED)} more types are refused" in PAGES["docs/inputs.md"]


def test_no_address_of_the_project_is_named_that_does_not_exist() -> None:
    files = [ROOT / name for name in ("pyproject.toml", "CITATION.cff", "mkdocs.yml", "CONTRIBUTING.md", "SECURITY.md")]
    texts = PAGES | {path.name: path.read_text(encoding="utf-8") for path in files}
    assert [name for name, text in texts.items() if re.search(r"(github|pypi|readthedocs)\S*headscope", text)] == []


def test_the_fast_tests_are_there() -> None:
    command = subprocess.run(["make", "--dry-run", "test-fast"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = re.findall(r"\b(?:src|tests)/\S+", command.stdout)
    assert len(paths) >= 50
    assert [path for path in paths if not (ROOT / path).exists()] == []
