"""The pictures of real treebanks and texts in the docs; skipped, with a line, for data that is not there.

    HEADSCOPE_DATA=FOLDER python docs/tools/treebank_pictures.py

The studies run as the pages of the docs say, some for minutes. Results are kept in out/treebanks, and a picture whose
result is there is drawn again from its numbers.
"""

import csv
import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

from chromium import labels_of, with_words

import headscope
from headscope.figures.export import of_svg, svg
from headscope.report.study_page import study_page

DOCS, RESULTS = Path(__file__).parents[1], Path("out/treebanks")
EWT, WIKI = "ud/en_ewt-ud-dev.conllu.gz", "wikitext/wiki.test.raw.gz"
STS, TEXTS = "glue/STS-B/train.tsv.gz", 500
# By the folder of its result, each run: the study, the corpus, and its options; {out} is the folder of the results.
RUNS = {
    "patterns": ("patterns", EWT, "--limit 200"),
    "syntax": ("syntax", EWT, "--limit 400"),
    "clusters": ("clusters", WIKI, "--kind paragraphs --patterns {out}/patterns --syntax {out}/syntax"),
    "gradients": ("gradients", WIKI, "--kind paragraphs --limit 500"),
    "framenet": ("relations", "framenet/framenet15_lu_short.jsonl.gz", "--kind framenet"),
    "induction": ("induction", WIKI, "--kind paragraphs --limit 200"),
    "layers": ("layers", EWT, "--train ud/en_ewt-ud-train.conllu.gz --train-limit 4000 --cases 2000"),
    "trees": ("trees", EWT, ""),
    "geometry": ("geometry", EWT, ""),
    "attributions": ("attributions", EWT, "--limit 300"),
    "structure": ("structure", EWT, ""),
    "shrink": ("shrink", STS, "--speed 1.4x --epochs 1 --groups 6 --eight-bit"),
}
# By the name of its file, each picture: the results that it needs, its own last, and the name of the figure.
PICTURES = {
    "gradients.png": (("gradients",), "gradient-by_layer"),
    "relations-links.png": (("framenet",), "link_attention"),
    "relations-gain.png": (("framenet",), "gain"),
    "clusters.png": (("patterns", "syntax", "clusters"), "points-dominant"),
    "induction.svg": (("induction",), "gain"),
    "layers.svg": (("layers",), "score"),
    "shrink.svg": (("shrink",), "path_size"),
}


def measure(name: str, data: Path | None, folder: Path) -> str:
    """Run a study, unless its result is there. Returns: why there is none, or nothing."""
    study, corpus, options = RUNS[name]
    out = folder.absolute()
    if (out / name / "result.nc").is_file():
        return ""
    if data is None:
        return "HEADSCOPE_DATA names no folder of data sets"
    if not (data / corpus).is_file():
        return f"'{data / corpus}' is not there"
    if corpus == STS:
        corpus = str(sentences_of(data / STS, out))
    command = [sys.executable, "-m", "headscope", study, "minilm", corpus, *options.format(out=out).split()]
    subprocess.run([*command, "-o", str(out / name), "--no-figures"], check=True, cwd=data, stdout=subprocess.DEVNULL)
    return ""


def sentences_of(pairs: Path, folder: Path) -> Path:
    """Write some first sentences of the pairs of a table, one a line; return the file."""
    with gzip.open(pairs, "rt", encoding="utf-8") as table:
        rows = csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
        sentences = sorted({row["sentence1"] for row in rows})
    folder.mkdir(parents=True, exist_ok=True)
    texts = folder / "texts.txt"
    texts.write_text("\n".join([*random.Random(0).sample(sentences, TEXTS), ""]), encoding="utf-8")
    return texts


def draw(picture: str, folder: Path, docs: Path) -> None:
    """Write a picture from its result."""
    needed, wanted = PICTURES[picture]
    figures = study_page(headscope.open_result(folder / needed[-1])).figures()
    (spec,) = [figure.chart.to_dict(validate=False) for figure in figures if figure.name == wanted]
    path, drawn = docs / picture, svg(spec)
    words = {"labels": labels_of(drawn), "lines": []}
    path.write_bytes(drawn.encode() if path.suffix == ".svg" else with_words(of_svg(drawn, "png"), words))


def main(folder: Path = RESULTS, docs: Path = DOCS) -> None:
    """Make each picture, or say why not."""
    data = Path(os.environ["HEADSCOPE_DATA"]) if os.environ.get("HEADSCOPE_DATA") else None
    for picture, (needed, _) in PICTURES.items():
        lacking = next(filter(None, (measure(name, data, folder) for name in needed)), "")
        if not lacking:
            draw(picture, folder, docs)
        print(f"{picture}: skipped, {lacking}" if lacking else picture, flush=True)


if __name__ == "__main__":
    main()
