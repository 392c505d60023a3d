"""The modules of the page by the rules that let them be joined into one file."""

import re
from collections import Counter
from pathlib import Path

import headscope
from headscope.report.render import joined

STATIC = Path(headscope.__path__[0]) / "viewer" / "static"
REPORT = Path(headscope.__path__[0]) / "report" / "static"
PATHS = sorted(path for folder in (STATIC, REPORT) for path in folder.glob("*.js"))
MODULES = {path.name: path.read_text(encoding="utf-8") for path in PATHS}
IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(\w+\.js)";$', re.MULTILINE)
BANNED = ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "http://")
SUBMITTING = ("onsubmit", '"submit"', 'make("form"')


def test_imports_take_one_line_and_rename_nothing() -> None:
    for name, text in MODULES.items():
        lines = re.findall(r"^import\b.*", text, re.MULTILINE)
        assert len(lines) == len(IMPORT.findall(text)), name
        assert set(IMPORT.findall(text)) <= set(MODULES), name
        assert " as " not in "".join(lines) and "import(" not in text, name


def test_the_report_and_the_viewer_share_modules() -> None:
    own = {path.name: path for path in PATHS}
    scripts = [joined(own["report.js"]), joined(own["page.js"]), joined(own["widget.js"])]
    for shared in ("address.js", "dom.js", "grid_keys.js", "head_order.js", "kind_legend.js"):
        names = re.findall(r"^export function (\w+)", MODULES[shared], re.MULTILINE)
        assert own[shared].parent == REPORT and names
        assert all(f"function {name}(" in script for name in names for script in scripts), shared
    assert len(own) == len(PATHS)  # no module hides another of its name


def test_what_is_imported_is_exported() -> None:
    for name, text in MODULES.items():
        for names, source in re.findall(r'^import \{ ([\w, ]+) \} from "\./(\w+\.js)";$', text, re.MULTILINE):
            exported = re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", MODULES[source], re.MULTILINE)
            assert set(names.split(", ")) <= set(exported), (name, source)
            assert all(re.search(rf"\b{word}\b", text.split(f'"./{source}";')[1]) for word in names.split(", ")), name


def test_top_level_names_are_unique() -> None:
    declared = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
    counts = Counter(name for text in MODULES.values() for name in declared.findall(text))
    assert [name for name, count in counts.items() if count > 1] == []


def test_nothing_makes_markup_of_text_or_code() -> None:
    for name, text in MODULES.items():
        for banned in BANNED:
            assert banned not in text.replace("http://www.w3.org/2000/svg", ""), (name, banned)


def test_nothing_is_submitted_as_a_form() -> None:
    """A sandboxed frame, such as that of VS Code's notebooks, blocks forms before their event."""
    assert [name for name, text in MODULES.items() if any(word in text for word in SUBMITTING)] == []


def test_styles_stay_below_the_element() -> None:
    css = re.sub(r"/\*.*?\*/", "", (STATIC / "viewer.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    selectors = [selector.strip() for group in re.findall(r"([^{}]+)\{", css) for selector in group.split(",")]
    outside = [selector for selector in selectors if not selector.startswith((".headscope", "@", "screen", "print"))]
    assert outside == [] and "url(" not in css and "@import" not in css
