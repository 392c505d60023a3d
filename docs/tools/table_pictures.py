"""Pictures from tables of the docs: speed.svg, cloze.svg and reliability.svg, from the numbers of their pages.

python docs/tools/table_pictures.py
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt

from headscope.figures.export import svg
from headscope.figures.theme import finished

DOCS = Path(__file__).parents[1]
OURS, OTHERS = "#d55e00", "#9aa5b1"
PADDING = {"left": 24, "right": 16, "top": 6, "bottom": 6}
METHODS = {
    "plain": "plain pass",
    "eager": "eager pass",
    "peer, float32": "all maps, float32",
    "peer, float16": "all maps, float16",
    "profile": "headscope",
}
INTERVAL = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")


def table(page: str, title: str) -> Iterator[list[str]]:
    """The rows of the table whose heading begins with a title, a pattern, without that heading."""
    lines = page[re.search(rf"^\| {title} \|", page, re.MULTILINE).start() :].splitlines()[2:]  # type: ignore[union-attr]
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def speed(page: str) -> Any:
    """The time of each method as times that of a plain pass, for the built-in model."""
    built_in = page[page.index("**built-in model**") : page.index("**BERT-base shape**")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in built_in.splitlines()]
    rows = [{"method": METHODS[each[0]], "ratio": float(each[2])} for each in cells if each[0] in METHODS]
    colour = alt.condition(alt.datum.method == METHODS["profile"], alt.value(OURS), alt.value(OTHERS))
    order = [row["method"] for row in rows]
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=260))
    )
    bars = base.mark_bar().encode(alt.X("ratio:Q", title="times a plain pass"), color=colour)
    numbers = base.mark_text(align="left", dx=4).encode(alt.X("ratio:Q"), alt.Text("ratio:Q", format=".2f"))
    drawn = (bars + numbers).properties(width=520, height=170, padding=PADDING)
    return finished(drawn, "Built-in model, segments of 128 tokens", "Times of a plain forward pass, by method")


def cloze(page: str) -> Any:
    """The accuracy in each phenomenon of BLiMP with its interval, beside frequencies alone, and chance."""
    rows = []
    for phenomenon, accuracy, _, unigram, *_ in table(page, "BLiMP"):
        value, lower, upper = map(float, INTERVAL.match(accuracy).groups())  # type: ignore[union-attr]
        row = {"phenomenon": phenomenon, "accuracy": value, "lower": lower, "upper": upper, "unigram": float(unigram)}
        rows.append(row)
    order = [row["phenomenon"] for row in rows]
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.Y("phenomenon:N", sort=order, title=None, axis=alt.Axis(labelLimit=260))
    )
    x = {"title": "pairs that are right, in per cent", "scale": alt.Scale(domain=[30, 90])}
    layers = [
        alt.Chart(alt.Data(values=[{"chance": 50}]))
        .mark_rule(strokeDash=[4, 4], color=OTHERS)
        .encode(alt.X("chance:Q", **x)),
        base.mark_rule(strokeWidth=2, color=OURS).encode(alt.X("lower:Q", **x), alt.X2("upper:Q")),
        base.mark_tick(thickness=2, size=14, color="#52606d").encode(alt.X("unigram:Q", **x)),
        base.mark_point(filled=True, size=70, color=OURS, opacity=1).encode(alt.X("accuracy:Q", **x)),
    ]
    drawn = alt.layer(*layers).properties(width=520, height=320, padding=PADDING)
    title = "BLiMP: the model (dot, 95% interval), frequencies alone (bar), chance (dashes)"
    return finished(drawn, title, "Accuracy in each phenomenon of BLiMP")


def reliability(page: str) -> Any:
    """What became of the mutated inputs, by kind of input."""
    counts: dict[tuple[str, str], int] = {}
    for kind, _, *numbers in table(page, r"input \| tried"):
        for end, number in zip(("read", "refused", "failed"), numbers, strict=True):
            key = (kind.partition(",")[0], end)
            counts[key] = counts.get(key, 0) + int(number.replace(",", ""))
    rows = [{"input": kind, "end": end, "inputs": number} for (kind, end), number in counts.items()]
    colours = alt.Scale(domain=["read", "refused", "failed"], range=["#0b5394", OTHERS, OURS])
    drawn = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            alt.Y("input:N", sort=[kind for kind, _ in counts], title=None),
            alt.X("inputs:Q", title="mutated inputs"),
            alt.Color("end:N", scale=colours, title=None),
        )
        .properties(width=480, height=alt.Step(16), padding=PADDING)
    )
    failed = sum(number for (_, end), number in counts.items() if end == "failed")
    return finished(
        drawn, f"{sum(counts.values()):,} mutated inputs, {failed} failures", "Ends of mutated inputs, by kind"
    )


PICTURES = {"speed": speed, "cloze": cloze, "reliability": reliability}


def main(docs: Path = DOCS) -> None:
    """Write the picture of each page beside it."""
    for name, chart in PICTURES.items():
        drawn = svg(chart((docs / f"{name}.md").read_text(encoding="utf-8")).to_dict(validate=False))
        (docs / f"{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
