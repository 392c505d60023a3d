"""The page of `shrink`: what the smaller model loses, how fast and how large it is, and what each removed part cost."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.claims import Claim, apart, together
from headscope.report.declared import Chart, NumberTable, StudyCard, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import examples, number, rate, sentence_case, several
from headscope.studies.size.shrink.figures import (
    GATES,
    REMOVED,
    changed_examples,
    facts,
    groups,
    open_gates,
    path_figures,
    steps,
)
from headscope.studies.size.shrink.forms import forms
from headscope.studies.size.shrink.highlights import (
    kept_within,
    lost,
    next_step,
    no_claim,
    removed,
    smaller,
    unlearned,
    words,
)

ADJECTIVES = {
    "rare words": "for rare words",
    "positional, syntactic or rare words": "positional, syntactic or for rare words",
}


def own_texts(numbers: Numbers) -> Iterator[Finding]:
    """Which texts of one's own were read for a task, and what their labels are."""
    texts = facts(numbers).get("pseudo_labels") or facts(numbers).get("own_texts")
    if not texts:
        return
    counted = f"{texts['texts']:,} {'pairs of texts' if texts['paired'] else 'single texts'}"
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in texts["left_out"].items())
    cut = f" Left out or cut: {reasons}." if reasons else ""
    if "pseudo_labels" not in facts(numbers):
        text = (
            f"{counted} are searched and trained on instead of the train split, without labels. Scores are of the "
            "dev split and its labels."
        )
        yield Finding("Texts instead of the train split", text + cut)
        return
    counts = ", ".join(f"'{name}' to {count:,}" for name, count in texts["answers"].items())
    text = (
        f"{counted} have no labels, or are read without them: the whole model's answers are used instead. So scores "
        "say how often the saved model agrees with the whole one, not how often either is right."
        f"{counts and f' Answers to held-out texts: {counts}.'}"
    )
    yield Finding("Labels are the whole model's own answers", text + cut)
    if texts["unanswered"]:
        text = f"The whole model answers none of these texts with them: {', '.join(texts['unanswered'])}."
        yield Finding("Classes that these texts do not test", text)


def eight_bit(numbers: Numbers) -> Iterator[Finding]:
    """What the file of eight bits loses, its size, its speed, and how its options were chosen."""
    if unlearned(numbers):
        return
    yield kept_within(numbers, "eight_bit", "In eight bits it")
    files = facts(numbers)["eight_bit"]
    yield Finding(
        "The model in eight bits",
        f"Options: {files['options']}; of all four they change the outputs least, by {number(files['change'], '.2g')}, "
        f"on {several(files['inputs'], 'text')} that do not score.",
    )


def needed(numbers: Numbers) -> Finding | None:
    """The size down to which the tolerance is kept, with its bounds."""
    share, sizes = numbers("needed_share"), numbers.result["megabytes"].values
    if unlearned(numbers):
        return None
    text = (
        f"{several(len(sizes), 'size')} were tested, from the largest on, and the saved model. Down to {share:%} of "
        f"the size the main score falls by less than {number(facts(numbers)['tolerance'])}. The bounds are the "
        "smallest of these sizes at which this is clear, and at which it is possible."
    )
    if share.value <= sizes[-1] / sizes[0] * (1 + 1e-9):
        text += " No smaller size was tested on these examples."
    return Finding("How small it may be", text + examples(numbers.array("needed_share")))


def gates(numbers: Numbers) -> Iterator[Finding]:
    """How gates chose; nothing without gates."""
    if saved := facts(numbers).get("gates"):
        text = (
            f"Gates were trained together with the model in {several(saved['epochs'], 'epoch')}, "
            f"{several(saved['steps'], 'step')}. Then their expected price was {number(saved['expected_price'])} times "
            "the target. Those that are most likely open stay, as many as the target allows; the others are closed for "
            "good."
        )
        yield Finding("How gates chose", text)


def kept_kinds(numbers: Numbers) -> Iterator[Finding]:
    """For each kind whether more heads of it stay than of random ones."""
    names = ("kept_kind_share", "random_kind_share", "kept_kind_excess", "kept_kind_q_value", "kind_heads")
    kinds, n = numbers.labels("kept_kind_excess", "head_kind"), numbers.n("kept_kind_excess")
    for kind in kinds:
        stay, random, excess, q, heads = (numbers(name, head_kind=kind) for name in names)
        words = ADJECTIVES.get(kind, kind)
        yield Finding.judged(
            Claim(stay.value, random.value, excess, n, q.value),
            f"{stay:.0%} of the heads that stay are {words}, and {random:.0%} of random heads of the same layers "
            f"on average (exact test, false discovery rate {rate(q.value)} over {several(len(kinds), 'kind')}). "
            f"{heads:.0f} of all {n} heads are, by the results given.",
            holds=f"More heads that stay are {words} than of random ones",
            fails=f"Fewer heads that stay are {words} than of random ones",
            undecided=f"Heads that stay are not clearly more often {words} than random ones",
            unit="",
        )


def portable(numbers: Numbers) -> Finding:
    """What an ordinary model of the same target scores beside one whose layers differ."""
    metric, beside = numbers.main_metric, facts(numbers)["portable"]
    score, gain = numbers("portable_score", metric=metric), numbers("fine_gain")
    name = label("metric", metric)
    reached = "" if beside["reached"] else " It does not reach the target."
    text = (
        f"The search for an ordinary model at the same target finds one of {number(beside['megabytes'], '.3g')} MB, "
        f"expected to be {number(beside['speed'], '.2f')} times as fast, with {name} {score}.{reached} "
        f"With layers that differ {name} changes by {gain}. Both are scored before any training, with the whole "
        f"vocabulary.{examples(numbers.array('fine_gain'))}"
    )
    return Finding("What an ordinary model costs", text)


def changed(numbers: Numbers) -> Finding:
    """The share of predictions that changed."""
    text = f"The saved model gives another class to {numbers('changed_share'):%} of the held-out examples."
    return Finding("Predictions that changed", text + examples(numbers.array("changed_share")))


def lossier_groups(numbers: Numbers) -> Iterator[Finding]:
    """The groups of inputs that lose more than all others, corrected for their number; nothing of any other group."""
    names, units = numbers.labels("group_loss", "input_group"), numbers.result["group_loss"].attrs["units"]
    if unlearned(numbers):
        return
    sides = [
        [numbers("group_loss", input_group=name, within=within) for within in ("group", "others")] for name in names
    ]
    counts = numbers.result["group_loss_n_examples"].min("within").sel(input_group=names).values.astype(int).tolist()
    claims = together([apart(group, others, n) for (group, others), n in zip(sides, counts, strict=True)])
    for name, (group, others), claim in zip(names, sides, claims, strict=True):
        if claim.verdict == "holds":
            text = (
                f"They lose {group} of {units} in the saved model, all others {others} (q < 0.05, Benjamini-Hochberg "
                f"over {len(names)} groups)."
            )
            topic = f"{sentence_case(name)} lose more than others"
            yield Finding.judged(claim, text, holds=topic, fails=topic, undecided=topic, unit="")


def vocabulary(numbers: Numbers) -> Finding | None:
    """How held-out texts are read without the pieces that are gone."""
    (before, after), counts = facts(numbers)["pieces"], facts(numbers)["held_out"]
    text = (
        f"{counts['unknown']:,} of {counts['tokens']:,} held-out tokens become unknown; {counts['changed_texts']:.1%} "
        f"of the texts are split into other pieces, {counts['more_tokens']:,} more in all."
    )
    return Finding("Removed pieces of the vocabulary", text) if after < before else None


def training(numbers: Numbers) -> Finding | None:
    """How the saved model was trained."""
    saved = facts(numbers)
    text = (
        f"{several(saved['epochs'], 'epoch')} of training on states and outputs of the whole model, with "
        f"{several(saved['examples'], 'example')}; the epoch is chosen on others, which do not score."
    )
    if not saved.get("trained", True):
        text += " No epoch brings their outputs nearer to the whole model: the saved model is untrained."
    return Finding("How it was trained", text) if saved["epochs"] else None


def sentences(result: xr.Dataset, rows: list[Row]) -> Iterator[Finding]:
    """Whether the head stays in the saved model."""
    for row in of_variable(rows, "head_gate"):
        stays = float(result["head_stays"].sel(layer=row.layer, head=row.head)) > 0
        kept = "The head stays in the smaller model" if stays else "The head is not in the smaller model"
        yield Finding("Trained gate", f"{kept}; its gate was open with a probability of {number(row.value)}.")


KEPT = (
    "Share of each layer that stays in the saved model: of its neurons and heads, and of what these add to the states "
    "of texts of the search; 0 where the layer is gone."
)
NEURONS = "Neurons of each layer's feed-forward part after each step; 0 where the layer is gone."
OPEN = "Probability that the gate of each head is open at the end of the training of gates."
SCORES = (
    "Scores of held-out examples with 95% intervals: of the whole model, of the saved one before and after its "
    "training, and the change between the two models."
)
SCORE_COLUMNS = {
    "whole_score": ("Whole model", ".3f"),
    "untrained_score": ("Before the training", ".3f"),
    "shrunk_score": ("Saved model", ".3f"),
    "shrunk_change": ("Change", "+.3f"),
}
WORDS = "Predictions of the words of held-out texts, with 95% intervals, by the whole model and by the saved one."
WORD_COLUMNS = {
    "whole_words": ("Whole model", ".3f"),
    "shrunk_words": ("Saved model", ".3f"),
    "words_change": ("Change", "+.3f"),
}
KINDS = (
    "Kinds of the heads that stay, by other results, and of as many random heads of the same layers (exact test). "
    "The bounds are the share minus the 97.5% and 2.5% quantiles of random choices."
)
KIND_COLUMNS = {
    "kind_heads": ("Heads of the model", ".0f"),
    "kept_kind_share": ("Share of those that stay", ".2f"),
    "random_kind_share": ("Share of random ones", ".2f"),
    "kept_kind_excess": ("Excess", "+.2f"),
    "kept_kind_q_value": ("q", ".2g"),
}
PAGE = StudyParts(
    highlights=(lost, words, smaller, removed, next_step),
    findings=(
        *(own_texts, eight_bit, needed, gates, kept_kinds, portable, changed, lossier_groups, vocabulary, training),
    ),
    charts=(
        path_figures,
        Chart("kept_share", "matrix", REMOVED, KEPT, dims=("layer", "kept")),
        Chart("layer_neurons", "matrix", REMOVED, NEURONS, dims=("layer", "step")),
        Chart("head_gate", "heatmap", GATES, OPEN, style={"domain": (0, 1)}),
        open_gates,
    ),
    tables=(
        lambda numbers: forms(numbers.result, facts(numbers)),
        steps,
        NumberTable("scores", SCORES, {"metric": "Score"}, SCORE_COLUMNS),
        NumberTable("words", WORDS, {"words_metric": "Score"}, WORD_COLUMNS),
        NumberTable("kept_kinds", KINDS, {"head_kind": "Kind"}, KIND_COLUMNS),
        groups,
        changed_examples,
    ),
    by_layer=(),
    card=StudyCard(hidden=("head_stays",), main_numbers=("head_gate",), sentences=sentences),
    no_claim=no_claim,
)
