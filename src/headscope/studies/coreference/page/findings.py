"""Findings of `coreference`: the heads that find antecedents, and the effect of gender (Clark et al. 2019, 4.3)."""

from collections.abc import Iterator
from math import isfinite

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.report.best_heads.chosen import (
    HEAD,
    ChosenHead,
    above_baseline,
    special_claim,
    special_heads,
    tests_made,
)
from headscope.report.best_heads.no_op import no_op
from headscope.report.best_heads.parts import OF_THIS_HEAD, counted
from headscope.report.claims import above, apart, below, weakest
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, Reading, agree, estimate, first_of, listed, of_array, several, strongest
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.coreference.page.confusion import confused, has_conditions
from headscope.studies.coreference.page.tables import WORDS, asks, kinds

NAMED = 5
KINDS = {"pronoun": "Pronouns", "proper": "Names", "nominal": "Noun phrases"}
GAPS = {"attention_gap": "Stereotypes in attention", "preference_gap": "Stereotypes in preference"}
# Where the function of a head does not apply.
WITHOUT = {"all": "antecedent", "proper": "name with an antecedent", "nominal": "noun phrase with an antecedent"}
NO_TREES = "The corpus has no trees: the head word of a name is its last word."
DOCUMENTS = (
    "A special head passes two tests: of mentions as if they were independent, and of whole documents, over which "
    "intervals are, too."
)
# By the variable that it is about.
LIMITS = {
    "f1": "A head always chooses one of the names, even if neither is correct; this lowers precision.",
    "attention_gap": "The sentences come from few templates; tests and intervals treat them as independent. A gap "
    "means that a head distinguishes the genders, not that the answers of the model do.",
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The chosen head, the special heads, and the effect of gender."""
    heads = [*_best_head(result), *_special_heads(result), *_gender_ratio(result), *_stereotyped(result)]
    return [*heads, *_by_kind(result), *no_op(result, kinds(result), WITHOUT), *confused(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with baselines, intervals and numbers of mentions."""
    heads = kinds(result)
    antecedents = [*_best(result, heads), *_special(result), *_kinds(heads), *no_op(result, heads, WITHOUT)]
    return [*antecedents, *_gender(result), *_stereotypes(result), *confused(result), *_caution(result)]


def _mentions(result: xr.Dataset) -> str:
    return "questions" if has_conditions(result) else "pronouns" if asks(result) else "mentions"


def _best_head(result: xr.Dataset) -> Iterator[Finding]:
    for overall in kinds(result)[:1]:
        reference = _baseline(overall, overall.reference)
        rule = f"the {WORDS[overall.reference]}"
        yield Finding.judged(
            overall.claim,
            f"Head {overall.head} finds one for {overall.score.value:.0%} of the {_mentions(result)}; always choosing "
            f"{rule} finds {reference.value:.0%}.",
            holds=f"Head {overall.head} finds antecedents",
            fails=f"No head finds more antecedents than {rule} does",
            undecided=f"Too few {_mentions(result)} or documents to tell whether a head finds antecedents",
            unit=f"held-out {_mentions(result)}",
        )


def _baseline(head: ChosenHead, name: str) -> Estimate:
    """The score of a baseline; one that never finds an antecedent is not among those of the page."""
    return head.baselines.get(name, Estimate(0.0))


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    heads, total = _special_readings(result)
    named = f" The heads: {first_of([one.head for one in heads], NAMED, ', ')}." if heads else ""
    both = result["baseline_accuracy"]
    reference = both.where(both["baseline"] == result["reference"]).max("baseline")
    gain = above_baseline(with_interval(result, "accuracy"), reference)
    yield Finding.judged(
        special_claim(result, gain, reference, result["accuracy_n_examples"]),
        f"The rules: nearest mention, and nearest mention of the same head word.{named}{_counted(result)}",
        holds=f"{several(len(heads), 'head')} of {total} {agree(len(heads), 'beats', 'beat')} both simple rules",
        fails="No head beats both simple rules",
        undecided="It cannot be told whether a head beats both simple rules",
        unit=_mentions(result),
    )


def _counted(result: xr.Dataset) -> str:
    return counted(int(result["accuracy_n_examples"].isel(mention_type=0)), _mentions(result))


def _by_kind(result: xr.Dataset) -> Iterator[Finding]:
    """The kind of mention that its chosen head finds best, and the rules beside the head of all mentions."""
    heads = kinds(result)
    if len(frequent := [kind for kind in heads[1:] if kind.enough]) > 1:
        best, *others = sorted(frequent, key=lambda kind: -kind.score.value)
        share = f"Head {best.head} finds an antecedent for {best.score.value:.0%} of the {KINDS[best.name].lower()}"
        rule = f"always choosing the {WORDS[best.reference]} finds {_baseline(best, best.reference).value:.0%}"
        beyond = [apart(best.score, kind.score, min(best.held_out, kind.held_out)) for kind in others]
        yield Finding.judged(
            weakest([best.claim, *beyond]),
            f"{share}; {rule}.",
            holds=f"{KINDS[best.name]} are the easiest",
            fails="No kind of mention stands out",
            undecided="It cannot be told which kind of mention is the easiest",
            unit="mentions",
        )
    if heads and "rules" in heads[0].baselines:
        score, rules = heads[0].score, heads[0].baselines["rules"]
        yield Finding.judged(
            apart(score, rules, heads[0].held_out),
            f"They find an antecedent for {rules.value:.0%} of the {_mentions(result)}, head {heads[0].head} for "
            f"{score.value:.0%}.",
            holds="Rules written by hand do worse",
            fails="Rules written by hand do as well or better",
            undecided="Rules written by hand: no clear difference from the chosen head",
            unit=_mentions(result),
        )


def _gender_ratio(result: xr.Dataset) -> Iterator[Finding]:
    if "chosen_bias_ratio" in result and isfinite((ratio := estimate(result, "chosen_bias_ratio")).value):
        pronouns = int(result["chosen_f1_n_examples"].sel(gender="overall"))
        better, judge = ("feminine", above) if ratio.value > 1 else ("masculine", below)
        yield Finding.judged(
            judge(ratio, 1.0, pronouns),
            f"F1 of feminine over masculine pronouns is {ratio.text}.",
            holds=f"The chosen head is better on {better} pronouns",
            fails="The chosen head is as good on feminine as on masculine pronouns",
            undecided="The chosen head: no clear difference of feminine and masculine pronouns",
            unit="pronouns",
        )


def _stereotyped(result: xr.Dataset) -> Iterator[Finding]:
    if "attention_gap" in result:
        more, less, total = _gap_counts(result, "attention_gap")
        gap, q = with_interval(result, "attention_gap"), result["attention_gap_q"]
        surest = q.where(gap.notnull()).fillna(2).argmin(q.dims)
        one, pairs = of_array(gap.isel(surest)), int(result["attention_n_examples"])
        yield Finding.judged(
            above(one if one.value > 0 else -one, 0.0, pairs, q=float(q.isel(surest))),
            "Their attention to an occupation depends on the gender of the pronoun."
            f"{counted(pairs, 'pairs of sentences')}",
            holds=f"Stereotypes show in {several(more + less, 'head').lower()} of {total}",
            fails="Stereotypes show in no head",
            undecided=f"Stereotypes show in no head of {total} beyond chance",
            unit="pairs of sentences",
        )


def _best(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    for overall in heads[:1]:
        beside = ", ".join(f"{WORDS[name]} {value.percent}" for name, value in overall.baselines.items())
        yield Finding(
            "The chosen head",
            f"Head {overall.head} was chosen on one half. It finds an antecedent of {overall.score.percent} of "
            f"{overall.held_out:,} {_mentions(result)}, in the held-out half. It gains "
            f"{overall.gain.points} points over the {WORDS[overall.reference]}. Baselines: {beside}.",
        )


def _special_readings(result: xr.Dataset) -> tuple[list[Reading], int]:
    """Returns: the heads that are special for any kind of mention, and the number of heads."""
    _, total, _ = special_heads(result, "mention_type")
    accuracy = result["accuracy"].isel(mention_type=0).where(result["special"].max("mention_type") == 1)
    return (strongest(accuracy) if bool(accuracy.notnull().any()) else []), total


def _special(result: xr.Dataset) -> Iterator[Finding]:
    heads, total = _special_readings(result)
    beat = agree(len(heads), "beats", "beat")
    tests = f"Benjamini-Hochberg over {tests_made(result)} heads and kinds"
    named = f": {first_of([f'{one.head} ({one.value:.0%})' for one in heads], NAMED, ', ')}" if heads else ""
    yield Finding(
        "Special heads",
        f"{several(len(heads), 'head')} of {total} {beat} nearest and head match by at least 10 points, in at least "
        f"{LEAST_CASES} mentions of some kind and with q < {RATE} ({tests}){named}.{_counted(result)}",
    )


def _kinds(heads: list[ChosenHead]) -> Iterator[Finding]:
    if heads[1:]:
        texts = [
            f"{kind.name}: {kind.head} {kind.score.percent}, {WORDS[kind.reference]} "
            f"{_baseline(kind, kind.reference).percent}, rules {_baseline(kind, 'rules').percent}, "
            f"n = {kind.held_out:,}"
            for kind in heads[1:]
        ]
        yield Finding("By kind of mention", "; ".join(texts) + ".")


def _gender(result: xr.Dataset) -> Iterator[Finding]:
    if "chosen_f1" not in result:
        return
    scores = ", ".join(
        f"{gender} {float(result['chosen_f1'].sel(gender=gender)):.3f}" for gender in result["gender"].values.tolist()
    )
    ratio, bounds = estimate(result, "chosen_bias_ratio").cell(".2f")
    nearest = result.sel(baseline="nearest")
    overall, nearest_ratio = nearest["chosen_baseline_f1"].sel(gender="overall"), nearest["chosen_baseline_bias_ratio"]
    yield Finding(
        "Gender",
        f"F1 of the chosen head on the other half: {scores}. The nearest name has "
        f"{float(overall):.3f} there. F1 of feminine over masculine pronouns is {ratio} "
        f"[{bounds}]; that of the nearest name is {float(nearest_ratio):.2f}. {_uneven(result)}",
    )


def _uneven(result: xr.Dataset) -> str:
    bounds = result["bias_ratio_ci"]
    feminine, masculine = ((bounds.sel(bound="lower") > 1).sum(), (bounds.sel(bound="upper") < 1).sum())
    total = int(result["bias_ratio"].notnull().sum())
    return (
        f"Of {total} heads {int(feminine)} are better on feminine and {int(masculine)} on masculine pronouns by the "
        "95% interval, not corrected for the number of heads."
    )


def _gap_counts(result: xr.Dataset, name: str) -> tuple[int, int, int]:
    """Returns: the heads with a sure gap above 0, with one below 0, and all heads."""
    sure = result[name].where(result[f"{name}_q"] < RATE)
    return int((sure > 0).sum()), int((sure < 0).sum()), int(result[name].notnull().sum())


def _stereotypes(result: xr.Dataset) -> Iterator[Finding]:
    for name, verb in (
        ("attention_gap", "the occupation gets more attention if the pronoun has the expected gender"),
        ("preference_gap", "the occupation is preferred more often if the pronoun has the expected gender"),
    ):
        if name in result:
            more, less, total = _gap_counts(result, name)
            pairs = int(result[f"{name.removesuffix('_gap')}_n_examples"])
            text = f"In {more} of {total} heads {verb}, in {less} the reverse (q < {RATE} each, n = {pairs:,} pairs)"
            yield Finding(GAPS[name], f"{text}.{_largest(result, name)}")
    if "chosen_preference_gap" in result:
        gap = estimate(result, "chosen_preference_gap")
        position = {name: int(result[f"chosen_{name}"][0]) for name in HEAD}
        yield Finding(
            "Stereotypes in the chosen head",
            f"Head {head_name(**position)} finds the most antecedents on one half. On the other half its "
            f"preference for the occupation differs by {gap.points} points between pro and anti sentences (above 0: "
            "stronger in pro sentences).",
        )


def _largest(result: xr.Dataset, name: str) -> str:
    sure = with_interval(result, name).where(result[f"{name}_q"] < RATE)
    if not bool(sure.notnull().any()):
        return ""
    ranked = sorted(strongest(sure), key=lambda one: -abs(one.value))
    return f" Largest gaps: {listed(ranked[:NAMED])}."


def _caution(result: xr.Dataset) -> Iterator[Finding]:
    texts = [NO_TREES if asks(result) else DOCUMENTS, OF_THIS_HEAD]
    texts += [text for name, text in LIMITS.items() if name in result]
    yield Finding("Limits", " ".join(texts))
