"""The picture of docs/speed.md, docs/speed.svg, from the first table of that page.

python docs/tools/speed_picture.py
"""

import re
from pathlib import Path
from typing import Any

import altair as alt

from headscope.figures.export import svg
from headscope.figures.theme import finished

DOCS = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([\w, ]+) \| [\d.]+ \| ([\d.]+) \|$", re.MULTILINE)
NAMES = {
    "plain": "plain pass",
    "eager": "eager pass",
    "peer, float32": "all maps, float32",
    "peer, float16": "all maps, float16",
    "profile": "headscope",
}
OURS = NAMES["profile"]


def ratios(page: str) -> dict[str, float]:
    """Of each method the ratio to a plain forward pass, for the built-in model."""
    table = page[page.index("**built-in model**") : page.index("**BERT-base shape**")]
    return {NAMES[method]: float(ratio) for method, ratio in ROW.findall(table)}


def chart(values: dict[str, float]) -> Any:
    """A bar a method, with its number."""
    rows = alt.Data(values=[{"method": method, "ratio": ratio} for method, ratio in values.items()])
    colour = alt.condition(alt.datum.method == OURS, alt.value("#d55e00"), alt.value("#9aa5b1"))
    base = alt.Chart(rows).encode(alt.Y("method:N", sort=list(values), title=None, axis=alt.Axis(labelLimit=260)))
    bars = base.mark_bar().encode(alt.X("ratio:Q", title="times a plain pass"), color=colour)
    numbers = base.mark_text(align="left", dx=4).encode(alt.X("ratio:Q"), alt.Text("ratio:Q", format=".2f"))
    drawn = (bars + numbers).properties(width=520, height=170, padding={"left": 24, "right": 16, "top": 6, "bottom": 6})
    return finished(drawn, "Built-in model, segments of 128 tokens", "Times of a plain forward pass, by method")


if __name__ == "__main__":
    drawn = svg(chart(ratios((DOCS / "speed.md").read_text(encoding="utf-8"))).to_dict(validate=False))
    (DOCS / "speed.svg").write_text(drawn, encoding="utf-8")
