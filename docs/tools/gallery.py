"""Draw the gallery of the docs: figures of each study, for the built-in model and the built-in sample, as SVG.

python docs/tools/gallery.py              # some minutes on one core; results are kept in out/gallery
python docs/tools/gallery.py --redraw     # the figures alone, from the results in out/gallery
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import headscope
from headscope.figures.export import svg
from headscope.report.study_page import study_page

FIGURES_FOLDER, RESULTS = Path(__file__).parents[1] / "gallery", Path("out/gallery")
# Figures of each study by name, in the order of docs/gallery.md. "maps" are the first maps of all patterns in a row.
FIGURES = {
    "profile": ("attention_to-by_layer", "attention_offset", "entropy", "feature_attention-words"),
    "patterns": ("maps", "share", "share_total"),
    "syntax": ("chosen", "all-by_layer"),
    "relations": ("gain", "zoom-1"),
    "coreference": ("chosen", "accuracy"),
    "clusters": ("points-dominant", "layers"),
    "gradients": ("gradient-by_layer", "worth-cls"),
    "probe": ("uas", "contribution"),
    "trees": ("chosen", "uas"),
    "structure": ("uuas", "tree-1"),
    "geometry": ("anisotropy", "intra_sentence_corrected"),
}


def measure() -> None:
    """Run the studies and save their results."""
    model, corpus = headscope.load("minilm"), headscope.read("sample")
    for name in FIGURES:
        given = {"patterns": RESULTS / "patterns", "syntax": RESULTS / "syntax"} if name == "clusters" else {}
        print(name, flush=True)
        headscope.save_result(getattr(headscope, name)(model, corpus, **given), RESULTS / name)


def draw(studies: Iterable[str] = FIGURES) -> None:
    """Write `docs/gallery/STUDY-FIGURE.svg` for each figure of these studies."""
    for study in studies:
        result = headscope.open_result(RESULTS / study)
        specs = {figure.name: figure.chart.to_dict(validate=False) for figure in study_page(result).figures()}
        specs["maps"] = first_maps({name: spec for name, spec in specs.items() if name.startswith("map-")})
        for name in FIGURES[study]:
            drawn = svg(specs[name])
            (FIGURES_FOLDER / f"{study}-{name}.svg").write_text(drawn, encoding="utf-8")
            print(f"{study}-{name}.svg {len(drawn) // 1024} KiB")


def first_maps(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The first map of each row, side by side, under the name of its pattern."""
    names = [name.removeprefix("map-").replace("_", " + ") for name in rows]
    maps = [spec["hconcat"][0] | {"title": name} for name, spec in zip(names, rows.values(), strict=True)]
    data = {name: values for spec in rows.values() for name, values in spec.get("datasets", {}).items()}
    shared = next(iter(rows.values()), {})
    return shared | {"title": "A map of each pattern", "hconcat": maps, "datasets": data}


def main() -> None:
    """Measure, unless the results are to be drawn again, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="draw the saved results again")
    if not parser.parse_args().redraw:
        measure()
    draw()


if __name__ == "__main__":
    main()
