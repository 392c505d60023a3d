"""The README's commands and examples do what it says."""

import gzip
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headscope.cli.app import application
from support.commands import commands
from support.tiny import save_tiny

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = commands(README)

TREEBANK = """# text = Dogs ran.
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tran\trun\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""

COREFERENCE = """# newdoc id = day
# global.Entity = GRP-etype-head
# text = Dogs ran.
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\tEntity=(e1-animal-1)
2\tran\trun\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# text = They slept.
1\tThey\tthey\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1-animal-1)
2\tslept\tsleep\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""
FRAME = (
    '{"sentence": "The dog was running to its house.", "frame": "Motion", "lexical_unit": "run.v", "target": [12, 19], '
    '"elements": [{"name": "Theme", "core": true, "start": 0, "end": 7}]}\n'
)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that the README names."""
    (tmp_path / "treebank.conllu.gz").write_bytes(gzip.compress(6 * TREEBANK.encode()))
    (tmp_path / "gum.conllu").write_text(COREFERENCE, encoding="utf-8")
    (tmp_path / "framenet.jsonl").write_text(FRAME, encoding="utf-8")
    (tmp_path / "dev.tsv").write_text("sentence1\tsentence2\nA dog ran.\tIt rained.\n", encoding="utf-8")
    (tmp_path / "wiki.txt").write_text("The first paragraph.\n\nThe second one.\n", encoding="utf-8")
    (tmp_path / "GLUE" / "MRPC").mkdir(parents=True)
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    rows = "1\t1\t2\tA dog ran .\tA dog was running .\n0\t3\t4\tIt rained .\tThe cat slept .\n"
    for split in ("train", "dev"):
        (tmp_path / "GLUE" / "MRPC" / f"{split}.tsv").write_text(header + 4 * rows, encoding="utf-8")
    save_tiny(tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command):
    arguments = shlex.split(command)[1:]
    result = CliRunner().invoke(application(arguments), arguments)
    assert result.exit_code == 0, f"{command}: {result.output}"
    return result.stdout


def test_commands_run_in_the_order_in_which_they_stand(workplace):
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        run(command.replace("bert-base-uncased", "./my-model"))
    assert (workplace / "out" / "mrpc" / "report.html").is_file()


def test_python_example_runs(workplace):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert (workplace / "out" / "mine" / "report.html").is_file()


def test_demo_prints_what_the_readme_shows(workplace):
    (command,) = re.findall(r"\$\(BIN\)/(headscope profile.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    printed = run(command)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    rows = [line.strip() for line in shown.splitlines() if re.search(r"\d\.\d\d", line)]
    assert len(rows) >= 5
    assert all(row in printed for row in rows)
    assert str(Path("out/demo/report.html")) in printed


def test_files_that_the_readme_links_are_there():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) >= 4
    assert [link for link in links if not (ROOT / link).is_file()] == []
