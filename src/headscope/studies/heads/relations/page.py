"""The page of `relations`: heads that attend to the links of a relation, beside heads that only attend far."""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval, zoom
from headscope.figures.labels import head_name
from headscope.report.best_head_parts import NAMED, OF_THIS_HEAD, beside, counted, frequent, no_op, of_all_cases
from headscope.report.best_heads import ARROWS, by_gain, options, special_claim, special_heads, tests_made
from headscope.report.claims import above
from headscope.report.declared import StudyParts
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import agree, first_of, mean_of_heads, number, several
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.heads.relations.card import CARD, baselines, head_kinds
from headscope.studies.heads.relations.tables import (
    ELSEWHERE,
    OTHERS,
    filter_steps,
    highest_heads,
    least_gain,
    links,
    relations,
)

LINKS, BEST, LOOK = "All links", "Relations", "A look into the best heads"
FORWARD = "source_to_target"
DIRECTIONS = [FORWARD, "target_to_source"]
MOST_RELATIONS = 12


def not_compared(numbers: Numbers) -> Finding | None:
    """A note that the links of no relation have a baseline."""
    if bool(numbers.result["gain"].sel(relation="all").notnull().any()):
        return None
    return Finding(
        "Nothing could be compared",
        "The baselines move a link to another place of its sentence, and put another word at one of its ends; no "
        "sentence has room for both. Read longer sentences, or more of them.",
    )


def best(numbers: Numbers) -> Iterator[Finding]:
    """The chosen head of all links beside words without a link."""
    for overall in of_all_cases(relations(numbers.result)):
        baseline = max(overall.baselines[ELSEWHERE].value, overall.baselines[OTHERS].value)
        yield Finding.judged(
            overall.claim,
            f"Head {overall.head} gives them {overall.score:.0%} of its attention; words without a link get "
            f"{baseline:.0%}.",
            holds=f"Head {overall.head} attends more to linked words than to others",
            fails="No head attends more to linked words than to others",
            undecided="Too few sentences to tell whether a head attends more to linked words than to others",
            unit="held-out sentences",
        )


def special(numbers: Numbers) -> Finding:
    """How many heads are special for a relation."""
    result, n = numbers.result, sentences(numbers)
    heads, total, names = special_heads(result, "relation")
    single = [name for name in names if name != "all"]
    which = f"; these relations have such a head: {first_of(single, NAMED, ', ')}" if single else ""
    higher = baselines(result)["link_attention"]
    return Finding.judged(
        special_claim(result, least_gain(result), higher, result["gain_n_examples"]),
        f"Such a head gives linked words clearly more attention than others{which}.{counted(n, 'sentences')}",
        holds=f"{several(heads, 'head')} of {total} {agree(heads, 'attends', 'attend')} to links",
        fails="No head attends to links",
        undecided="It cannot be told whether a head attends to links",
        unit="sentences of one relation",
    )


def sentences(numbers: Numbers) -> int:
    """The sentences with links that can be compared; raises `MissingNumber` if there is none."""
    numbers.array("gain", relation="all")
    return numbers.n("gain", relation="all")


def clearest(numbers: Numbers) -> Iterator[Finding]:
    """The relation with the largest gain of a special head."""
    for relation in [head for head in by_gain(relations(numbers.result)) if head.special][:1]:
        attends = f"Head {relation.head} attends to {relation.name}"
        yield Finding.judged(
            replace(relation.claim, q=relation.q),
            f"It gives the links ({relation.arrow}) {100 * relation.gain.value:.0f} points more attention than words "
            "without a link.",
            holds=attends,
            fails=f"No head attends to {relation.name}",
            undecided=f"{attends}, perhaps by chance",
            unit="held-out sentences",
        )


def without_function(numbers: Numbers) -> Iterator[Finding]:
    """Whether chosen heads look at special tokens where no link begins."""
    yield from no_op(numbers.result, relations(numbers.result))


def random_weights(numbers: Numbers) -> Finding:
    """The mean gain of heads beside that of random weights; attention itself is high for any peaked head."""
    result, n = numbers.result, sentences(numbers)
    numbers.array("untrained")
    trained = mean_of_heads(least_gain(result).sel(relation="all", direction=FORWARD))
    random = result["untrained_gain"].values.tolist() if "untrained_gain" in result else []
    if trained.value != trained.value:
        raise MissingNumber("gain")
    weights = f"; with random weights {number(100 * sum(random) / len(random), '.1f')} points" if random else ""
    points = number(100 * trained.value, ".1f")
    text = f"The average head gives linked words {points} points more attention than others{weights}."
    claim = above(trained, 0.0, n)
    return beside_random_seeds("Attention between linked words", trained, random, claim, text, "sentences")


def above_percentile(numbers: Numbers) -> Finding:
    """The note that any model has heads above the 99th percentile, which the paper names."""
    sentences(numbers)
    numbers.array("percentile")  # without one there is no such head
    total = int(numbers.result["link_attention"].isel(relation=0, direction=0).notnull().sum())
    least = -(-(total - 1) // 100)
    text = f"This is no test: {least} of {total} heads {agree(least, 'lies', 'lie')} above it in any model."
    return Finding("Above the 99th percentile", text)


def tested(numbers: Numbers) -> Finding:
    """How heads were tested."""
    result, _ = numbers.result, sentences(numbers)
    _, _, names = special_heads(result, "relation")
    enough = int((result["gain_n_examples"] >= LEAST_CASES).sum())
    beyond = ", and more than any head of an untrained model" if "untrained" in result else ""
    return Finding(
        "Special heads",
        f"They give the links of some relation at least 0.1 more attention than both baselines, with q < {RATE} "
        f"(Benjamini-Hochberg over {tests_made(result)} heads, relations and directions), in at least {LEAST_CASES} "
        f"sentences{beyond}. The baselines: links moved elsewhere in the same sentence, and other words at one end "
        f"(whichever gets more). Relations with a special head: {len(names)} of {enough} with at least {LEAST_CASES} "
        "sentences.",
    )


def untrained(numbers: Numbers) -> Finding:
    """Attention to links with random weights."""
    at = {"relation": "all", "direction": FORWARD}
    sentences(numbers)
    random, trained = numbers.array("untrained", **at), numbers.array("link_attention", **at)
    return Finding(
        "Untrained model",
        f"With random weights the heads give links {number(float(random.mean()))} on average and at most "
        f"{number(float(random.max()))}; the trained model gives {number(float(trained.mean()))} on average (source → "
        "target, all links).",
    )


def limits(numbers: Numbers) -> Finding:
    """What a reader has to keep in mind."""
    few = [head.name for head in relations(numbers.result) if not head.enough]
    coded = "The pieces of both ends were paired one by one, as in the released code."
    texts = [
        f"Relations with fewer than {LEAST_CASES} sentences have a separate table: {len(few)}." if few else "",
        coded if options(numbers.result).get("as_coded") else "",
        "The value of a sentence is the largest over its links and their pairs of tokens: it grows with their number. "
        "Links elsewhere have as many words, not always as many tokens: heads of random weights gain on them, too. A "
        "gain is that over both baselines.",
        OF_THIS_HEAD,
    ]
    return Finding("Limits", " ".join(filter(None, texts)))


def all_links(numbers: Numbers) -> Iterator[Figure]:
    """Attention to all links, and its gain over the baselines, of every head."""
    attention = _in_words(numbers.array("link_attention", relation="all").drop_vars("n_examples"))
    caption = (
        "Mean over sentences of the largest attention of a link. After Kovaleva et al. (2019), Figure 3 (middle), "
        "whose code has source → target: from the frame element to the word that evokes the frame."
    )
    yield Figure("link_attention", LINKS, heatmap(attention), caption, "link_attention")
    gain = _in_words(_gain(numbers.result).sel(relation="all", drop=True))
    caption = (
        "Attention to links minus the larger of two baselines: links moved elsewhere in their sentence, and other "
        "words that look at the same end of the link. A head that only looks at a fixed distance, or always at the "
        "same word, is not above 0."
    )
    yield Figure("gain", LINKS, heatmap(gain, diverging=True), caption, "gain")
    looking = attention.sel(direction=ARROWS[FORWARD], drop=True)
    limit = float(numbers.result["percentile"].sel(relation="all", direction=FORWARD))
    chart = by_layer(looking, reference=limit, reference_label="99th percentile of all heads")
    caption = "A dot for each head, a line for the layer's mean; source → target."
    yield Figure("link_attention-by_layer", LINKS, chart, caption, "link_attention")


def _gain(result: xr.Dataset) -> xr.DataArray:
    """Attention to links minus the larger of the baselines."""
    gain = result["gain"].where(result["gain"] < result["gain_others"], result["gain_others"]).rename("gain")
    return gain.assign_attrs(long_name="gain of links over both baselines", units="share of attention")


def _in_words(array: xr.DataArray) -> xr.DataArray:
    return array.assign_coords(direction=[ARROWS[name] for name in array["direction"].values.tolist()])


def chosen(numbers: Numbers) -> Figure:
    """The best head of each relation beside its baselines and the untrained model: "all", then the largest gains."""
    result, words = numbers.result, ("links", "elsewhere", "other words")
    numbers.array("chosen_attention")
    enough, names = frequent(result, "gain_n_examples"), ("chosen_attention", "chosen_elsewhere", "chosen_others")
    parts = {word: with_interval(enough, name) for word, name in zip(words, names, strict=True)}
    if "untrained" in enough:
        most = enough["untrained"].sel(direction=DIRECTIONS).max(["layer", "head", "direction"])
        most = most.where(enough["chosen_attention"].notnull())
        parts["untrained"] = most.assign_coords(lower=most, upper=most)
    attributes = {"long_name": "attention of links in the chosen head", "units": "share of attention"}
    largest = beside(enough, parts).dropna("relation", how="all").isel(relation=slice(MOST_RELATIONS + 1))
    caption = (
        "The head with the largest gain, on the half of the sentences on which it was not chosen, with 95% "
        f"intervals. Untrained: the largest value of any head of a model with random weights. The "
        f"{MOST_RELATIONS} relations with the largest gains."
    )
    chart = bars(largest.rename("attention").assign_attrs(attributes))
    return Figure("chosen", BEST, chart, caption, "chosen_attention")


def by_relation(numbers: Numbers) -> Iterator[Figure]:
    """Every head's gain over both baselines, by relation."""
    enough = frequent(numbers.result, "gain_n_examples")
    labelled = enough.sel(relation=enough["relation"] != "all").isel(relation=slice(MOST_RELATIONS))
    if labelled.sizes["relation"]:
        gain = _gain(labelled).sel(direction=DIRECTIONS).max("direction", keep_attrs=True)
        caption = f"In the better direction; 0 for heads without a gain. The {MOST_RELATIONS} most frequent relations."
        yield Figure("gain-by_relation", BEST, heatmap(gain.clip(min=0, keep_attrs=True)), caption, "gain")


def zooms(numbers: Numbers) -> Iterator[Figure]:
    """Typical sentences in the heads that gain most."""
    for index, sentence in enumerate(numbers.array("map").transpose("example", ...), 1):
        tokens = [token for token in sentence["token"].values.tolist() if token]
        ends = sentence["link_end"].values[: len(tokens)]
        head = head_name(int(sentence["map_layer"]), int(sentence["map_head"]))
        relation, direction = str(sentence["map_relation"].item()), ARROWS[str(sentence["map_direction"].item())]
        name = "all links" if relation == "all" else relation
        title = f"Head {head}: {name}, {direction}"
        weights = xr.DataArray(sentence.values[: len(tokens), : len(tokens)], dims=("query", "key"), name=title)
        chart = zoom(weights, tokens, int((ends == 1).argmax()), (ends == 2).nonzero()[0].tolist())
        caption = (
            f"A typical sentence: its links get the median attention of this head for {name}. Linked tokens are "
            "orange. After Kovaleva et al. (2019), Figure 3."
        )
        yield Figure(f"zoom-{index}", LOOK, chart, caption, "link_attention")


PAGE = StudyParts(
    highlights=(not_compared, best, special, clearest, without_function, random_weights),
    findings=(above_percentile, tested, untrained, limits),
    charts=(all_links, chosen, by_relation, zooms),
    tables=(links, highest_heads, filter_steps),
    kinds=(head_kinds,),
    card=CARD,
)
