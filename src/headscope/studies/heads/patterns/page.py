"""The page of `patterns`: which patterns maps have, in which heads, and the clearest maps (Kovaleva et al. 2019, 4.1).

Where there are several corpora, numbers and charts of heads are means over them.
"""

from collections.abc import Iterator

from headscope.figures import attention_maps, by_layer, classes, heatmap, stacked, with_interval
from headscope.figures.labels import head_name, label
from headscope.figures.theme import named
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.wording import agree, examples, layer_means, listed, number, of_array, several, spread, strongest
from headscope.statistics.significance import RATE, corrected, q_above, surely_above
from headscope.studies.heads.patterns.card import CARD, HALF, clear_map, kinds, over_corpora

SHARES, HEADS, MAPS = "Share of each pattern", "Patterns of heads", "Clear examples"
# The share of heterogeneous maps over the tasks of Figure 2: MRPC and QQP.
PAPER = (0.32, 0.61)
MEANINGS = {
    "vertical": "All tokens attend to the same few tokens.",
    "diagonal": "Each token attends near itself, at one distance.",
    "vertical_diagonal": "Each token attends to a few tokens that all attend to, and near itself, at one distance.",
    "block": "Attention is nearly even, over the input or inside its segments: random weights look so, too.",
    "heterogeneous": "They have no simple shape.",
}
CLEAR = ("diagonal", "vertical")
NOTHING = Finding("No maps", "No input has enough tokens for a pattern; use longer texts.")
TOTAL = (
    "All heads together; a share is the mean probability of the pattern. Near-even block: over the whole input or "
    "inside its segments, as random weights have it. Dashed lines: the range of heterogeneous maps in the paper, "
    "0.32 (MRPC) to 0.61 (QQP), for fine-tuned BERT-base. After Kovaleva et al. (2019), Figure 2."
)
EXAMPLES = (
    "The clearest maps, each of another head. Darker: more attention; each map has its own scale. "
    "After Kovaleva et al. (2019), Figure 1."
)


def most_frequent(numbers: Numbers) -> Finding:
    """The most frequent pattern of all maps."""
    numbers.array("share_total")
    total = over_corpora(numbers.result, "share_total")
    most = total.fillna(0).idxmax("pattern").item()
    return Finding(f"{total.sel(pattern=most).item():.0%} of the maps are {label('pattern', most)}", MEANINGS[most])


def heterogeneous(numbers: Numbers) -> Finding:
    """The share of heterogeneous maps, beside the 32% to 61% of the paper."""
    array = numbers.array("share_total", pattern="heterogeneous")
    paper = "Kovaleva et al. found 0.32 (MRPC) to 0.61 (QQP) in BERT-base fine-tuned on each task."
    if "task" not in array.dims:
        return Finding("Heterogeneous maps", f"{of_array(array).text} of all maps. {paper}")
    order = array.dropna("task").sortby(array.dropna("task"))
    low, high = (f"{of_array(order[index]).text} ({order['task'][index].item()})" for index in (0, -1))
    return Finding("Heterogeneous maps", f"From {low} to {high} of the maps of a corpus. {paper}")


def clear(numbers: Numbers) -> Finding:
    """The heads shown to have a clear shape in half of their maps."""
    share = over_corpora(numbers.result, "share")
    sure = share.where(surely_above(share, HALF))
    best = [(name, reading) for name in CLEAR for reading in strongest(sure.sel(pattern=name))[:1]]
    heads = [f"{reading.head} ({label('pattern', name)})" for name, reading in best if reading.value > HALF]
    return Finding("Heads with a clear shape", f"{', '.join(heads) or 'No head clearly has one in half of its maps'}.")


def mixed(numbers: Numbers) -> Finding:
    """The heads in which no pattern prevails."""
    share = over_corpora(numbers.result, "share")
    heads = [reading for reading in strongest(1 - share.max("pattern")) if reading.value > HALF]
    total = int(share.notnull().all("pattern").sum())
    if not heads:
        text = "Each head has one pattern in more than half of its maps."
        return Finding(f"Each of {total} heads has a main pattern", text)
    largest = ", ".join(f"{reading.head} ({number(1 - reading.value)})" for reading in heads[:5])
    more = f" and {len(heads) - 5} more" if len(heads) > 5 else ""
    return Finding(f"{len(heads)} of {total} heads without a main pattern", f"Their largest shares: {largest}{more}.")


def patterns(numbers: Numbers) -> Iterator[Finding]:
    """The heads that have a pattern in more than half of their maps, by pattern."""
    share = over_corpora(numbers.result, "share")
    q = q_above(share, HALF)
    tests = "" if q is None else corrected(q, "heads and patterns")
    for pattern in share["pattern"].values.tolist():
        array = share.sel(pattern=pattern)
        readings = strongest(array)
        if not readings:
            yield Finding(label("pattern", pattern).capitalize(), "The result has no share of it for any head.")
            continue
        most = [reading for reading in readings if reading.value > HALF]
        beside = (
            "" if q is None or not most else f"; {int((q.sel(pattern=pattern) < RATE).sum())} beyond chance ({tests})"
        )
        median = f"; in the median head {number(float(array.median()))} of the maps"
        heads = f"No head has it in more than half of the maps; the shares reach {number(float(array.max()))}"
        if most:
            verb = agree(len(most), "has", "have")
            heads = f"{len(most)} of {len(readings)} heads {verb} it in more than half of their maps: {listed(most)}"
        where = f" Means of layers: {spread(array.mean('head'))}." if max(layer_means(array).values()) > 0 else ""
        text = f"{heads}{beside}{median}.{where}{examples(array)}"
        yield Finding(label("pattern", pattern).capitalize(), text)


def same(numbers: Numbers) -> Finding:
    """How many heads have the same pattern on all of several corpora (Kovaleva et al. 2019, section 6)."""
    share, heads = numbers("same_pattern"), several(numbers.n("same_pattern"), "head")
    text = (
        f"{share.percent} of {heads} have the same most frequent pattern on all {numbers.result.sizes['task']} corpora"
    )
    return Finding("The same pattern on all corpora", f"{text}; the interval is over heads.")


def total(numbers: Numbers) -> Figure:
    """The share of each pattern, by corpus."""
    array = with_interval(numbers.result, "share_total")
    if "task" not in array.dims:
        array = array.expand_dims(task=[str(numbers.result.attrs["corpus"])])
    array, words = array.transpose("task", "pattern"), "heterogeneous in the paper"
    chart = stacked(array, first="heterogeneous", band=PAPER, band_label=words)
    return Figure("share_total", SHARES, chart, TOTAL, "share_total")


def main_pattern(numbers: Numbers) -> Figure:
    """The pattern with the largest share of the maps of each head."""
    names, main = numbers.result["pattern"].values.tolist(), numbers.result["dominant"]
    main = main.assign_attrs(long_name="pattern with the largest share of a head's maps")
    caption = "The pattern with the largest share of the maps of each head; the next figure shows the shares."
    return Figure("dominant", HEADS, classes(main, names=names, dim="pattern"), caption, "share")


def heads(numbers: Numbers) -> Iterator[Figure]:
    """The shares of each head."""
    share = over_corpora(numbers.result, "share")
    yield Figure("share", HEADS, heatmap(share, domain=(0, 1)), "The five shares of a head sum to 1.", "share")
    caption = "A dot for each head, a line for the layer's mean."
    yield Figure("share-by_layer", HEADS, by_layer(share), caption, "share")


def maps(numbers: Numbers) -> Iterator[Figure]:
    """The clearest maps of each pattern."""
    for pattern in numbers.labels("map", "pattern"):
        array = numbers.result["map"].sel(pattern=pattern)
        clearest = [
            clear_map(example, "map", head_name(int(example["map_layer"]), int(example["map_head"])))
            for example in array
            if example.notnull().any()
        ]
        title = f"{named(array)}: {label('pattern', pattern)}".replace("maps of each pattern", "maps")
        yield Figure(f"map-{pattern}", MAPS, attention_maps(clearest, title), EXAMPLES, "share")


PAGE = StudyParts(
    highlights=(most_frequent, clear, mixed),
    findings=(heterogeneous, patterns, same),
    charts=(total, main_pattern, heads, maps),
    kinds=(kinds,),
    card=CARD,
    nothing=NOTHING,
)
