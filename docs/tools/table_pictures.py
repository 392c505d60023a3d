"""Pictures from tables of the docs, from the numbers of their pages: see `PICTURES`.

python docs/tools/table_pictures.py
"""

from pathlib import Path
from typing import Any

import altair as alt
from tables import cells, interval, named_rows, number, table, table_lines

from headscope.figures.export import svg
from headscope.figures.theme import finished

DOCS = Path(__file__).parents[1]
OURS, OTHERS, BLUE = "#d55e00", "#9aa5b1", "#0b5394"
PADDING = {"left": 24, "right": 16, "top": 6, "bottom": 6}
METHODS = {
    "plain": "plain pass",
    "eager": "eager pass",
    "peer, float32": "all maps, float32",
    "peer, float16": "all maps, float16",
    "profile": "headscope",
}
# The models whose inputs are explained, and their sections.
EXPLAINED = {
    "sentence encoder": "## The built-in model on English",
    "classifier of reviews": "## A fine-tuned classifier",
}
# Four ways to choose parts, all without narrower embeddings, by their names in the table.
SHRUNK = {
    "ours, without them": "ours",
    "longest weights": "longest weights",
    "random parts": "random parts",
    "gates": "gates",
}
STARTS = r"task \| pretrained, untrained classifier"


def speed(page: str) -> Any:
    """The time of each method as times that of a plain pass, for the built-in model."""
    built_in = page[page.index("**built-in model**") : page.index("**BERT-base shape**")]
    found = [cells(line) for line in built_in.splitlines()]
    rows = [{"method": METHODS[row[0]], "ratio": float(row[2])} for row in found if row[0] in METHODS]
    colour = alt.condition(alt.datum.method == METHODS["profile"], alt.value(OURS), alt.value(OTHERS))
    base = alt.Chart(alt.Data(values=rows)).encode(named_rows([row["method"] for row in rows], "method"))
    bars = base.mark_bar().encode(alt.X("ratio:Q", title="times a plain pass"), color=colour)
    numbers = base.mark_text(align="left", dx=4).encode(alt.X("ratio:Q"), alt.Text("ratio:Q", format=".2f"))
    drawn = (bars + numbers).properties(width=520, height=170, padding=PADDING)
    return finished(drawn, "Built-in model, segments of 128 tokens", "Times of a plain forward pass, by method")


def cloze(page: str) -> Any:
    """The accuracy in each phenomenon of BLiMP with its interval, beside frequencies alone, and chance."""
    rows = []
    for phenomenon, accuracy, _, unigram, *_ in table(page, "BLiMP"):
        rows.append({"phenomenon": phenomenon, **interval(accuracy), "unigram": float(unigram)})
    base = alt.Chart(alt.Data(values=rows)).encode(named_rows([row["phenomenon"] for row in rows], "phenomenon"))
    x = {"title": "pairs that are right, in per cent", "scale": alt.Scale(domain=[30, 90])}
    layers = [
        alt.Chart(alt.Data(values=[{"chance": 50}]))
        .mark_rule(strokeDash=[4, 4], color=OTHERS)
        .encode(alt.X("chance:Q", **x)),
        base.mark_rule(strokeWidth=2, color=OURS).encode(alt.X("lower:Q", **x), alt.X2("upper:Q")),
        base.mark_tick(thickness=2, size=14, color="#52606d").encode(alt.X("unigram:Q", **x)),
        base.mark_point(filled=True, size=70, color=OURS, opacity=1).encode(alt.X("value:Q", **x)),
    ]
    drawn = alt.layer(*layers).properties(width=520, height=320, padding=PADDING)
    title = "BLiMP: the model (dot, 95% interval), frequencies alone (bar), chance (dashes)"
    return finished(drawn, title, "Accuracy in each phenomenon of BLiMP")


def reliability(page: str) -> Any:
    """What became of the mutated inputs, by kind of input."""
    counts: dict[tuple[str, str], int] = {}
    _, *ends = cells(next(table_lines(page, r"input \| read")))
    for kind, *numbers in table(page, r"input \| read"):
        for end, count in zip(ends, numbers, strict=True):
            key = (kind.partition(",")[0], end)
            counts[key] = counts.get(key, 0) + int(number(count))
    rows = [{"input": kind, "end": end, "inputs": count} for (kind, end), count in counts.items()]
    colours = alt.Scale(domain=ends, range=[BLUE, OTHERS, OURS])
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
    failed = sum(count for (_, end), count in counts.items() if end == "failed")
    return finished(
        drawn, f"{sum(counts.values()):,} mutated inputs, {failed} failures", "Ends of mutated inputs, by kind"
    )


def attributions(page: str) -> Any:
    """The faithfulness of each method with its interval, in the sentence encoder and in a classifier."""
    rows = []
    for model, section in EXPLAINED.items():
        for method, _, gain, *_ in table(page[page.index(section) :], r"method \| layer"):
            rows.append({"model": model, "method": method.partition(" (")[0], **interval(gain)})
    order = [row["method"] for row in rows if row["model"] == list(EXPLAINED)[-1]]
    x = alt.X("value:Q", title="fall beyond random order")
    base = alt.Chart().encode(named_rows(order, "method"))
    layers = [
        alt.Chart().mark_rule(strokeDash=[4, 4], color=OTHERS).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2, color=OURS).encode(alt.X("lower:Q"), alt.X2("upper:Q")),
        base.mark_point(filled=True, size=70, color=OURS, opacity=1).encode(x),
    ]
    panels = alt.layer(*layers, data=alt.Data(values=rows)).properties(width=250, height=230)
    drawn = panels.facet(column=alt.Column("model:N", sort=list(EXPLAINED), title=None)).properties(padding=PADDING)
    return finished(drawn, "Which tokens a model uses: methods by faithfulness", "Faithfulness of methods, two models")


def shrink_methods(page: str) -> Any:
    """The accuracy of each way to choose the parts that stay, with its interval, beside the whole model."""
    scores = {name: score for name, score, *_ in table(page, r"\| accuracy \| by seed")}
    rows = [{"method": words, **interval(scores[name])} for name, words in SHRUNK.items()]
    whole = alt.Chart(alt.Data(values=[{"value": number(scores["whole model"])}]))
    x = {"title": "accuracy (dashes: the whole model)", "scale": alt.Scale(zero=False)}
    base = alt.Chart(alt.Data(values=rows)).encode(named_rows([row["method"] for row in rows], "method"))
    layers = [
        whole.mark_rule(strokeDash=[4, 4], color=OTHERS).encode(alt.X("value:Q", **x)),
        base.mark_rule(strokeWidth=2, color=OURS).encode(alt.X("lower:Q", **x), alt.X2("upper:Q")),
        base.mark_point(filled=True, size=70, color=OURS, opacity=1).encode(alt.X("value:Q", **x)),
    ]
    drawn = alt.layer(*layers).properties(width=440, height=110, padding=PADDING)
    return finished(drawn, "MRPC at 41 MB, by the choice of parts", "Accuracy of four ways to choose parts")


def fine_tuning(page: str) -> Any:
    """The score of each task by its start."""
    _, *starts = cells(next(table_lines(page, STARTS)))
    rows = [
        {"task": task, "start": start, "score": number(score)}
        for task, *scores in table(page, STARTS)
        for start, score in zip(starts, scores, strict=True)
    ]
    colours = alt.Scale(domain=starts, range=[OTHERS, BLUE, "#8fd0cb", OURS, "#52606d"])
    legend = alt.Legend(orient="bottom", columns=2, columnPadding=40)
    shapes = alt.Scale(domain=starts, range=["circle", "square", "triangle-up", "diamond", "cross"])
    drawn = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=110, opacity=1, strokeWidth=2)
        .encode(
            named_rows([row["task"] for row in rows], "task"),
            alt.X("score:Q", title="score, per cent (STS-B: Pearson's correlation x 100)"),
            alt.Color("start:N", scale=colours, title=None, legend=legend),
            alt.Shape("start:N", scale=shapes, title=None),
        )
        .properties(width=420, height=150, padding=PADDING)
    )
    return finished(drawn, "Where the score of a task comes from", "Scores of four tasks by start")


def pretrain_head(page: str) -> Any:
    """The share of masked pieces that are predicted, by epoch."""
    rows = []
    for epoch, _, _, accuracy in table(page, r"epoch \| loss"):
        rows.append({"epoch": f"epoch {epoch}" if epoch[0].isdigit() else epoch, "accuracy": number(accuracy)})
    base = alt.Chart(alt.Data(values=rows)).encode(named_rows([row["epoch"] for row in rows], "epoch"))
    x = alt.X("accuracy:Q", title="masked pieces that are predicted, per cent", axis=alt.Axis(tickCount=7))
    colour = alt.condition(alt.datum.epoch == rows[0]["epoch"], alt.value(OTHERS), alt.value(OURS))
    bars = base.mark_bar().encode(x, color=colour)
    numbers = base.mark_text(align="left", dx=4).encode(x, alt.Text("accuracy:Q", format=".1f"))
    drawn = (bars + numbers).properties(width=440, height=150, padding=PADDING)
    return finished(drawn, "The new head learns to predict masked words", "Masked pieces predicted, by epoch")


def pruned(page: str) -> Any:
    """The accuracy by the share of removed heads, beside always the same answer."""
    title = r"heads removed \| 0 \| 12.5%"
    _, *shares = cells(next(table_lines(page, title)))
    (_, *accuracies), *_ = table(page, title)
    (constant,) = [number(row[-1]) for row in table(page, STARTS) if row[0].startswith("MRPC")]
    rows = [
        {"share": number(share), "accuracy": number(accuracy)}
        for share, accuracy in zip(shares, accuracies, strict=True)
    ]
    y = alt.Y("accuracy:Q", scale=alt.Scale(domain=[65, 80]), title="accuracy, per cent")
    base = alt.Chart(alt.Data(values=rows)).encode(alt.X("share:Q", title="heads removed, per cent"), y)
    same = alt.Chart(alt.Data(values=[{"accuracy": constant, "words": "always the same answer"}])).encode(y)
    layers = [
        same.mark_rule(strokeDash=[4, 4], color=OTHERS),
        same.mark_text(align="left", baseline="top", dy=4, color="#52606d").encode(alt.Text("words:N"), x=alt.value(4)),
        base.mark_line(color=OURS),
        base.mark_point(filled=True, size=70, color=OURS, opacity=1),
        base.mark_text(dy=-12).encode(alt.Text("accuracy:Q", format=".1f")),
    ]
    drawn = alt.layer(*layers).properties(width=440, height=220, padding=PADDING)
    return finished(drawn, "MRPC: accuracy without a share of the heads", "Accuracy by the share of removed heads")


def scale(page: str) -> Any:
    """Tokens a second of threads and of workers, by corpus."""
    title = r"corpus \| one thread"
    _, *ways = cells(next(table_lines(page, title)))
    rows = [
        {"corpus": corpus, "way": way, "tokens": number(tokens)}
        for corpus, *rates in table(page, title)
        for way, tokens in zip(ways, rates, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        named_rows([row["corpus"] for row in rows], "corpus"),
        alt.X("tokens:Q", title="tokens a second"),
        alt.YOffset("way:N", sort=ways),
    )
    colours = alt.Scale(domain=ways, range=[OTHERS, BLUE, OURS])
    bars = base.mark_bar().encode(alt.Color("way:N", scale=colours, sort=ways, title=None))
    numbers = base.mark_text(align="left", dx=4).encode(alt.Text("tokens:Q", format=","))
    drawn = (bars + numbers).properties(width=400, height=190, padding=PADDING)
    return finished(drawn, "A profile of the built-in model on two cores", "Tokens a second, by threads and workers")


# By the name of its file, each picture: the page that has the numbers, and the chart.
PICTURES = {
    "speed": ("measured/speed", speed),
    "cloze": ("measured/cloze", cloze),
    "reliability": ("measured/reliability", reliability),
    "attributions": ("measured/attributions", attributions),
    "fine-tuning": ("fine-tuning", fine_tuning),
    "pretrain-head": ("measured/pretrain-head", pretrain_head),
    "pruned": ("fine-tuning", pruned),
    "shrink-methods": ("measured/shrink", shrink_methods),
    "scale": ("measured/scale", scale),
}


def main(docs: Path = DOCS) -> None:
    """Write the picture of each page beside it."""
    for name, (page, chart) in PICTURES.items():
        drawn = svg(chart((docs / f"{page}.md").read_text(encoding="utf-8")).to_dict(validate=False))
        (docs / f"{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
