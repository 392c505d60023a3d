"""The page of `syntax`: special heads and the best head of each relation, beside the best fixed word.

Clark et al. 2019, section 4.2 (Table 1); scores are on the half of the sentences on which a head was not chosen.
"""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.figures.labels import head_name
from headscope.report.best_head_parts import NAMED, OF_THIS_HEAD, beside, counted, frequent, no_op, of_all_cases
from headscope.report.best_heads import HEAD, above_baseline, by_gain, special_claim, special_heads, tests_made
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.wording import agree, first_of, several
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.heads.syntax.card import CARD, kinds
from headscope.studies.heads.syntax.tables import as_coded, baseline, fixed_word, full_name, judged_on, relations, table

BEST, WHERE = "The best head of each relation", "Which heads"
MOST_RELATIONS = 12


def best(numbers: Numbers) -> Iterator[Finding]:
    """The chosen head of all words beside the best fixed word."""
    for overall in of_all_cases(relations(numbers.result)):
        fixed = fixed_word(overall)
        text = (
            f"Head {overall.head} ({overall.arrow}) picks the syntactic head of {overall.score:%} of "
            f"{overall.held_out:,} words; always picking {fixed} is right for {baseline(overall):%}."
        )
        if as_coded(numbers.result):  # a head that was chosen on what it is scored on can claim nothing
            yield Finding("The chosen head", f"{text} It was chosen on the same words.")
            continue
        yield Finding.judged(
            overall.claim,
            text,
            holds=f"Head {overall.head} knows more of the syntax than {fixed} does",
            fails=f"No head knows more of the syntax than {fixed} does",
            undecided=f"Too few sentences to tell whether a head knows more of the syntax than {fixed} does",
            unit="held-out words",
        )


def special(numbers: Numbers) -> Finding:
    """How many heads are special for a relation."""
    result = numbers.result
    count, total, _ = special_heads(result, "relation", without="all")
    labelled = result.sel(relation=result["relation"] != "all")
    gain = above_baseline(with_interval(labelled, "accuracy"), labelled["baseline"])
    text = "Such a head picks the right word clearly more often than a fixed distance or position does."
    return Finding.judged(
        special_claim(labelled, gain, labelled["baseline"], labelled["accuracy_n_examples"]),
        f"{text}{busiest(result)}{counted(numbers.n('accuracy', relation='all'), 'words')}",
        holds=f"{several(count, 'head')} of {total} {agree(count, 'knows', 'know')} a syntactic relation",
        fails="No head knows a syntactic relation",
        undecided="It cannot be told whether a head knows a syntactic relation",
        unit="words of one relation",
    )


def busiest(result: xr.Dataset) -> str:
    """The head that is special for most relations."""
    special = result["special"].max("direction").where(result["relation"] != "all")
    counts = special.sum("relation")
    if not int(counts.max()):
        return ""
    head = counts[counts.argmax(...)]
    position = {name: int(head[name]) for name in HEAD}
    names = special["relation"].values[special.sel(position).values == 1].tolist()
    return f" Head {head_name(**position)} is special for: {', '.join(names)}."


def clearest(numbers: Numbers) -> Iterator[Finding]:
    """The relation with the largest gain of a special head."""
    for relation in [head for head in by_gain(relations(numbers.result)) if head.special][:1]:
        knows = f"Head {relation.head} knows {full_name(relation)}"
        yield Finding.judged(
            replace(relation.claim, q=relation.q),
            f"It is right in {relation.score:.0%} of the cases; always picking {fixed_word(relation)} is right in "
            f"{baseline(relation):.0%}.",
            holds=knows,
            fails=f"No head knows {full_name(relation)}",
            undecided=f"{knows}, perhaps by chance",
            unit="held-out words",
        )


def without_function(numbers: Numbers) -> Iterator[Finding]:
    """Whether chosen heads look at special tokens where their relation does not apply."""
    heads = [head for head in relations(numbers.result) if head.labels["relation"] != "all"]
    yield from no_op(numbers.result, heads)


def missing(numbers: Numbers) -> Iterator[Finding]:
    """The relations that no head is special for."""
    *_, special = special_heads(numbers.result, "relation", without="all")
    if names := [head.name for head in by_gain(relations(numbers.result)) if head.name not in special]:
        yield Finding(f"{several(len(names), 'relation')} without such a head", f"{first_of(names, NAMED, ', ')}.")


def tested(numbers: Numbers) -> Finding:
    """How heads were tested."""
    result = numbers.result
    _, _, names = special_heads(result, "relation", without="all")
    enough = int((result["accuracy_n_examples"].where(result["relation"] != "all") >= LEAST_CASES).sum())
    return Finding(
        "Special heads",
        f"They beat the best fixed word of some relation by at least 10 points {judged_on(result)}, in at least "
        f"{LEAST_CASES} words and with q < {RATE} (Benjamini-Hochberg over {tests_made(result)} heads, relations and "
        f"directions). Relations with a special head: {len(names)} of {enough} with at least {LEAST_CASES} words.",
    )


def limits(numbers: Numbers) -> Finding:
    """What a reader has to keep in mind."""
    few = [head.name for head in relations(numbers.result) if not head.enough]
    coded = "Heads were chosen and scored on the same words, as in the released code: the scores are too high."
    texts = [
        f"Relations with fewer than {LEAST_CASES} words have a separate table: {', '.join(few)}." if few else "",
        coded if as_coded(numbers.result) else "",
        OF_THIS_HEAD,
        f"The tokenizer splits {numbers('split_words'):%} of the words.",
        "A special head passes two tests: of words as if they were independent, and of whole sentences or documents.",
    ]
    return Finding("Limits", " ".join(filter(None, texts)))


def chosen(numbers: Numbers) -> Figure:
    """The best head of each relation beside the fixed word."""
    result, names = numbers.result, {"best head": "chosen_accuracy", "fixed word": "chosen_baseline"}
    enough = frequent(result, "accuracy_n_examples")
    joined = beside(enough, {words: with_interval(enough, name) for words, name in names.items()}).rename("accuracy")
    attributes = {"long_name": "words whose syntactic head is picked", "units": "share of words"}
    on = "the same sentences" if as_coded(result) else "the half of the sentences on which they were not chosen"
    caption = (
        f"Accuracy of the chosen head and of the chosen fixed word on {on}, with 95% intervals. "
        "After Clark et al. (2019), Table 1."
    )
    return Figure("chosen", BEST, bars(joined.assign_attrs(attributes)), caption, "chosen_accuracy")


def gain(numbers: Numbers) -> Figure:
    """Every head's gain over the fixed word, by relation."""
    part = frequent(numbers.result, "accuracy_n_examples").isel(relation=slice(MOST_RELATIONS))
    points = (100 * (part["accuracy"].max("direction") - part["baseline"])).clip(min=0).rename("gain")
    caption = (
        "Accuracy of each head, in its better direction, minus that of the best fixed word; 0 for heads that are "
        f"no better. The {MOST_RELATIONS} most frequent relations."
    )
    chart = heatmap(points.assign_attrs(long_name="Gain over the best fixed word", units="points"))
    return Figure("gain", WHERE, chart, caption, "accuracy")


def all_words(numbers: Numbers) -> Figure:
    """All heads by layer; nothing where all words are roots and punctuation."""
    accuracy = numbers.array("accuracy", relation="all").drop_vars("n_examples")
    chart = by_layer(accuracy, reference=numbers("baseline", relation="all").value, reference_label="best fixed word")
    caption = "A dot for each head, a line for the layer's mean: how often it picks the syntactic head of any word."
    return Figure("all-by_layer", WHERE, chart, caption, "accuracy")


PAGE = StudyParts(
    highlights=(best, special, clearest, without_function, missing),
    findings=(tested, limits),
    charts=(chosen, gain, all_words),
    tables=(table,),
    kinds=(kinds,),
    card=CARD,
)
