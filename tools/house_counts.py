"""Print how large and how entangled the package is: one count a line.

python tools/house_counts.py            # the quick counts, in seconds
python tools/house_counts.py --check    # fails where one exceeds its limit; `make check` runs it
python tools/house_counts.py --slow     # also the pages of docs/measured and the walks of benchmarks.walks
"""

import argparse
import ast
import gc
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SRC, TESTS, DOCS = ROOT / "src" / "headscope", ROOT / "tests", ROOT / "docs"
STUDIES = SRC / "studies"
# A kernel takes its tensors and their strides as arguments.
KERNELS = SRC / "capture" / "fused_kernels.py"
LISTS = ("results/vocabulary.py", "report/kinds.py", "front/survey/costs.py", "front/survey/plan.py")
VAGUE = {"one", "own", "made", "found", "known", "given"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
KINDS = (*FUNCTIONS, *IMPORTS, ast.ClassDef, ast.Name, ast.arg, ast.Call, ast.Compare, ast.Assert, ast.Constant)
LARGE, SHORT, PROSE = 12, 30, 60
# What `--check` holds. Lower a number with its count; never raise it.
LIMITS = {
    "src: lines": 96_375,
    "src: files": 739,
    "src: files under 30 lines": 50,
    "functions with more than 12 arguments": 3,
    "classes from BaseException": 0,
    "circles of files": 0,
    "upward imports": 0,
    "stores of vague names": 287,
    "pages: files": 28,
    "pages: lines": 6_063,
    "pages: guards": 18,
    "pages: json.loads": 0,
    "shrink: files": 28,
    "shrink: lines": 4_498,
    "shrink: arguments of run": 16,
    "tests: asserts on more than 60 characters": 8,
    "tests: lines": 65_446,
    "tests: monkeypatch.setattr": 204,
    "docs: words": 64_559,
}


def files(*folders: Path) -> list[Path]:
    """The Python files of some folders, at any depth."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def nodes(path: Path) -> list[Any]:
    """The nodes of a file that some count asks for."""
    return [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, KINDS)]


def lines(paths: list[Path]) -> int:
    """The lines of some files together."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def text(path: Path) -> str:
    """The text of a file."""
    return path.read_text("utf-8")


def words(paths: list[Path]) -> int:
    """The words of some files together: tokens with a letter or a digit, so no bars and rules of tables."""
    return sum(len(re.findall(r"\S*[^\W_]\S*", text(path))) for path in paths)


def every(paths: list[Path], *kinds: type) -> Iterator[Any]:
    """The nodes of some kinds in some files."""
    return (node for path in paths for node in nodes(path) if isinstance(node, kinds))


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of arguments of a function."""
    return len([*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs])


def stores(paths: list[Path]) -> Iterator[str]:
    """The names of variables, arguments and functions, each as often as it is stored."""
    for node in every(paths, ast.Name, ast.arg, ast.FunctionDef):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.Name):
            yield node.arg if isinstance(node, ast.arg) else node.name


def calls(paths: list[Path], dotted: str) -> int:
    """How often a function is called by its dotted name."""
    return sum(ast.unparse(node.func) == dotted for node in every(paths, ast.Call))


def guards(paths: list[Path]) -> int:
    """The comparisons `is None`, `is not None` and `not in result`, that ask whether a number is there."""

    def is_guard(node: ast.Compare) -> bool:
        value = ast.unparse(node.comparators[0])
        missing = isinstance(node.ops[0], ast.NotIn) and value == "result"
        return missing or (isinstance(node.ops[0], ast.Is | ast.IsNot) and value == "None")

    return sum(map(is_guard, every(paths, ast.Compare)))


def long_prose(paths: list[Path]) -> int:
    """The asserts that compare with a literal of a sentence."""

    def is_long(node: ast.AST) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > PROSE

    return sum(any(map(is_long, ast.walk(node.test))) for node in every(paths, ast.Assert))


def imports() -> dict[Path, set[Path]]:
    """The files of the package that each file imports, at its head or in a function."""
    paths = files(SRC)
    modules = {".".join(path.relative_to(ROOT / "src").with_suffix("").parts): path for path in paths}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph: dict[Path, set[Path]] = {}
    for path in paths:
        names = {alias.name for node in every([path], ast.Import) for alias in node.names}
        for node in every([path], ast.ImportFrom):
            dotted = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in modules else str(node.module) for name in dotted}
        graph[path] = {modules[name] for name in names & modules.keys()} - {path}
    return graph


def circles(graph: dict[Path, set[Path]]) -> list[set[Path]]:
    """The sets of files of which each reaches all others by imports."""
    reached: dict[Path, set[Path]] = {}
    for start in graph:
        todo, done = [start], set()
        while todo:
            new = graph[todo.pop()] - done
            done |= new
            todo += new
        reached[start] = done
    members = {frozenset({path} | {end for end in reached[path] if path in reached[end]}) for path in graph}
    return [set(circle) for circle in members if len(circle) > 1]


def upward(graph: dict[Path, set[Path]]) -> int:
    """The imports of a layer of pyproject.toml by a lower one, those for types included."""
    contract = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    floors = {name.strip(): floor for floor, row in enumerate(contract["layers"]) for name in row.split("|")}
    floor = {path: floors.get(f"headscope.{path.relative_to(SRC).with_suffix('').parts[0]}", -1) for path in graph}
    return sum(floor[start] > floor[end] >= 0 for start, ends in graph.items() for end in ends)


def folder(study: str) -> Path:
    """The folder of a study, in that of what it is about."""
    return next(STUDIES.glob(f"*/{study}"))


def naming(studies: list[str]) -> list[int]:
    """For each study the files outside of its folder that name it: in quotes, as a module, a command or a page."""
    name = f"({'|'.join(studies)})"
    word = re.compile(rf"[\"'`]{name}[\"'`]|(?:studies[./]\w+[./]|headscope[. ]){name}\b|\b{name}\.md")
    paths = [*files(SRC, TESTS / "support", ROOT / "benchmarks"), *DOCS.glob("**/*.md"), *ROOT.glob("*.*ml")]
    named = Counter(
        study
        for path in [*paths, ROOT / "README.md"]
        for study in {"".join(groups) for groups in word.findall(text(path))} - set(path.parts)
    )
    return [named[study] for study in studies]


def listed(study: str) -> bool:
    """Whether a list of one of the lower floors names a study."""
    return any((SRC / path).is_file() and f'"{study}"' in text(SRC / path) for path in LISTS)


def promised(study: str) -> set[str]:
    """The variables `name[dimensions]` of the docstring of `run` that are no word of a literal of the study."""
    run = function(study, "run")
    names = set(re.findall(r"`([a-z_0-9]+)\[", ast.get_docstring(run) or ""))
    literals = (node.value for node in every(files(folder(study)), ast.Constant) if isinstance(node.value, str))
    return names - {word for value in literals if "`" not in value for word in re.split(r"\W+", value)}


@cache
def variables() -> set[str]:
    """The names of the numbers that studies declare."""
    return {ast.literal_eval(node.args[0]) for node in every(files(STUDIES), ast.Call) if declares_number(node)}


def declares_number(node: ast.Call) -> bool:
    """Whether a call makes a number with a name."""
    return ast.unparse(node.func) == "Number" and bool(node.args) and isinstance(node.args[0], ast.Constant)


def rows_of_variables(path: Path) -> int:
    """The rows of the tables of a page of which at least half begin with the name of a number."""
    tables = [re.findall("^[|] `(\\w+)`", table, re.MULTILINE) for table in text(path).split("\n\n")]
    return sum(len(names) for names in tables if 2 * sum(name in variables() for name in names) >= len(names))


def function(study: str, name: str) -> ast.FunctionDef:
    """A function of the file `study.py` of a study."""
    return next(node for node in every([folder(study) / "study.py"], ast.FunctionDef) if node.name == name)


def of_source() -> dict[str, int]:
    """The counts of the package alone, which `--check` holds."""
    src, graph = files(SRC), imports()
    short = [path for path in src if lines([path]) < SHORT]
    pages = [path for path in files(STUDIES) if "page" in path.relative_to(STUDIES).with_suffix("").parts]
    functions = every([path for path in src if path != KERNELS], *FUNCTIONS)
    bases = [ast.unparse(base) for node in every(src, ast.ClassDef) for base in node.bases]
    return {
        "src: lines": lines(src),
        "src: files": len(src),
        "src: files under 30 lines": len(short),
        "src: files under 30 lines, without __init__": sum(path.stem != "__init__" for path in short),
        "functions with more than 12 arguments": sum(arguments(node) > LARGE for node in functions),
        "classes from BaseException": bases.count("BaseException"),
        "circles of files": len(circles(graph)),
        "upward imports": upward(graph),
        "stores of vague names": sum(name in VAGUE or name.startswith("of_") for name in stores(src)),
        "pages: files": len(pages),
        "pages: lines": lines(pages),
        "pages: guards": guards(pages),
        "pages: json.loads": calls(pages, "json.loads"),
        "shrink: files": len(files(folder("shrink"))),
        "shrink: lines": lines(files(folder("shrink"))),
        "shrink: arguments of run": arguments(function("shrink", "run")),
    }


def of_studies() -> dict[str, int]:
    """How many places name a study or its variables."""
    studies = sorted(path.parent.name for path in STUDIES.glob("*/*/study.py"))
    named = naming(studies)
    return {
        "a study: files outside that name it, least": min(named),
        "a study: files outside that name it, most": max(named),
        "studies that vocabulary, kinds, costs or plan name": sum(map(listed, studies)),
        "docs: rows of variables by hand": sum(map(rows_of_variables, DOCS.glob("**/*.md"))),
        "docstrings of run: variables that are not there": sum(len(promised(study)) for study in studies),
    }


def of_texts() -> dict[str, int]:
    """The sizes of tests and docs."""
    tests = files(TESTS)
    return {
        "tests: lines": lines(tests),
        "tests: asserts on more than 60 characters": long_prose(tests),
        "tests: monkeypatch.setattr": calls(tests, "monkeypatch.setattr"),
        "docs: words": words([*DOCS.glob("**/*.md")]),
        "changelog: words": words([ROOT / "CHANGELOG.md"]),
    }


def refused_pages() -> str:
    """The results of docs/measured whose findings are refused, of all."""
    from headscope import HeadscopeError, open_result
    from headscope.report.study_page import StudyPage

    found, refused = sorted(DOCS.glob("measured/**/*.nc")), 0
    for path in found:
        result = open_result(path.parent)
        try:
            StudyPage(result, result.attrs["study"]).findings()
        except HeadscopeError:
            refused += 1
    return f"{refused} of {len(found)}"


def slow() -> dict[str, Any]:
    """The counts for which the package runs."""
    command = [sys.executable, "-m", "benchmarks.walks", "--json"]
    walks = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    refused = {"docs/measured: results whose findings are refused": refused_pages()}
    return refused | {f"walk {name}: returns": walk["returns"] for name, walk in walks.items()}


def main() -> None:
    """Print the counts; with `--check`, exit with 1 if one exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only those that exceed a limit")
    parser.add_argument("--slow", action="store_true", help="also what has to run")
    options = parser.parse_args()
    gc.disable()
    counts = of_source() | of_texts() | ({} if options.check else of_studies())
    counts |= slow() if options.slow else {}
    for name, count in counts.items():
        limit = LIMITS.get(name, count)
        if count > limit or not options.check:
            print(f"{name:52} {count:>8}" + f"  more than {limit}" * (count > limit))
    for circle in circles(imports()) if counts["circles of files"] else ():
        print("circle:", ", ".join(sorted(str(path.relative_to(SRC)) for path in circle)))
    sys.exit(options.check and any(counts[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    main()
