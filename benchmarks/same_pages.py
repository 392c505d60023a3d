"""Compare the pages of saved results between two source trees of headscope: claims, tables, charts, cards.

    python -m benchmarks.same_pages write SRC FILE FOLDER...   # with the package in SRC; a FOLDER holds result.nc
    python -m benchmarks.same_pages compare FILE OTHER         # what differs, by result and part; status 1 if anything

Run it before and after a change that must not change pages. The first results to ask for are those of `docs/measured`
and of `benchmarks.same_numbers`.
"""

import difflib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# Runs with the package of either tree, so that it asks for nothing but what both have.
DUMP = """
import json, sys
from pathlib import Path
from headscope import HeadscopeError, results
from headscope.report.cards.head_numbers import number_names, numbers as numbers_of, rows
from headscope.report.study_page import study_page

def part(make):
    try:
        return make()
    except HeadscopeError as error:
        return f"refused: {error}"

def figures(page):
    return [[one.name, one.section, one.caption, one.variable, one.chart.to_dict()] for one in page]

def tables(page):
    return [[one.name, one.caption, one.keys, [[c.key, c.words] for c in one.columns], one.rows] for one in page]

def numbers(page):
    return [[one.topic, one.words, one.array.values.tolist(), one.chosen, one.is_share, one.is_needed] for one in page]

def sentences(card, result):
    if not number_names(result):
        return []
    frame = numbers_of(result)
    own = [rows(frame[(frame["layer"] == 1) & (frame["head"] == head)]) for head in (1, 2)]
    return [[one.record() for one in card.sentences(result, numbers)] for numbers in own if numbers]

pages = {}
for folder in sys.argv[2:]:
    result = results.read(folder)
    page, card = study_page(result), study_page(result).card()
    heads = [(1, 1), (2, 2)] if {"layer", "head"} <= set(result.dims) else []
    pages[folder] = {
        "highlights": part(lambda: [one.record() for one in page.highlights()]),
        "findings": part(lambda: [one.record() for one in page.findings()]),
        "figures": part(lambda: figures(page.figures())),
        "tables": part(lambda: tables(page.tables())),
        "by_layer": part(lambda: page.by_layer(results.means(result))),
        "layers": part(lambda: numbers(page.layer_numbers())),
        "layer_figures": part(lambda: figures(page.layer_figures())),
        "kinds": part(lambda: [[one.layer, one.head, one.kind, one.word] for one in page.kinds()]),
        "hidden": sorted(card.hidden),
        "main_numbers": part(lambda: list(card.main_numbers(result))),
        "badges": part(lambda: [[name, one.values.tolist()] for name, one in card.badges(result).items()]),
        "baselines": part(lambda: [[name, one.values.tolist()] for name, one in card.baselines(result).items()]),
        "rates": part(lambda: [[name, one.values.tolist()] for name, one in card.rates(result).items()]),
        "sentences": part(lambda: sentences(card, result)),
        "maps": part(lambda: [figures(card.maps(result, *head)) for head in heads]),
        "head_figures": part(lambda: [figures(card.figures(result, *head)) for head in heads]),
    }
Path(sys.argv[1]).write_text(json.dumps(pages, default=str, sort_keys=True))
"""


def write(source: Path, file: Path, folders: list[str]) -> None:
    """Write the parts of the page of each result, made with the package in `source`."""
    environment = os.environ | {"PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", DUMP, str(file), *folders], env=environment, check=True)


def compare(file: Path, other: Path) -> int:
    """Print what differs; return the number of parts that do."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (file, other))
    differing = 0
    for folder in sorted(before.keys() | after.keys()):
        for name in sorted(before.get(folder, {}).keys() | after.get(folder, {}).keys()):
            both = [pages.get(folder, {}).get(name) for pages in (before, after)]
            if both[0] != both[1]:
                differing += 1
                print(f"{folder}: {name}")
                changes = difflib.unified_diff(_lines(both[0]), _lines(both[1]), lineterm="", n=0)
                print("\n".join([*changes][2:42]))
    print(f"{differing} parts of {len(before)} pages differ")
    return differing


def _lines(part: Any) -> list[str]:
    """A part in lines of at most 400 letters, without the names that Altair draws anew."""
    if isinstance(part, list) and any(isinstance(one, list | dict) for one in part):
        return [line for one in part for line in _lines(one)]
    if isinstance(part, dict):
        return [f"{name}: {str(value)[:400]}" for name, value in part.items()]
    return [str(part)[:400]]


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
    else:
        sys.exit(bool(compare(Path(sys.argv[2]), Path(sys.argv[3]))))
