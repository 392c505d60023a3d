"""The page of `coreference`: the heads that find antecedents, and the effect of gender (Clark et al. 2019, 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.figures.labels import head_name
from headscope.report.best_head_parts import OF_THIS_HEAD, counted, no_op
from headscope.report.best_heads import HEAD, ChosenHead, above_baseline, special_claim, special_heads, tests_made
from headscope.report.claims import above, apart, below, weakest
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.wording import Estimate, agree, first_of, of_array, several, strongest
from headscope.results import joined
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.heads.coreference import confusion_page
from headscope.studies.heads.coreference.card import CARD, GAPS, head_kinds
from headscope.studies.heads.coreference.tables import WORDS, asks, baselines, by_gender, gaps, kinds, table_2

BEST, WHERE, GENDER = "The best heads", "Which heads", "Gender"
NAMED = 5
ALL = {"questions": "all questions", "pronouns": "all pronouns that have one", "mentions": "all kinds of mentions"}
KINDS = {"pronoun": "Pronouns", "proper": "Names", "nominal": "Noun phrases"}
# Where the function of a head does not apply.
WITHOUT = {"all": "antecedent", "proper": "name with an antecedent", "nominal": "noun phrase with an antecedent"}
NO_TREES = "The corpus has no trees: the head word of a name is its last word."
DOCUMENTS = (
    "A special head passes two tests: one treats mentions as independent, the other resamples whole documents, as "
    "intervals do."
)
# By the variable that it is about.
LIMITS = {
    "f1": "A head always chooses one of the names, even if neither is correct; this lowers precision.",
    "attention_gap": "The sentences come from few templates; tests and intervals treat them as independent. A gap "
    "means that a head distinguishes the genders, not that the answers of the model do.",
}


def best(numbers: Numbers) -> Iterator[Finding]:
    """The chosen head of all mentions beside the better one of the simple rules."""
    mentions = mentions_of(numbers.result)
    for overall in kinds(numbers.result)[:1]:
        rule = f"the {WORDS[overall.reference]}"
        yield Finding.judged(
            overall.claim,
            f"Head {overall.head} finds one for {overall.score:.0%} of the {mentions}; always choosing "
            f"{rule} finds {baseline(overall, overall.reference):.0%}.",
            holds=f"Head {overall.head} finds antecedents",
            fails=f"No head finds more antecedents than {rule} does",
            undecided=f"Too few {mentions} or documents to tell whether a head finds antecedents",
            unit=f"held-out {mentions}",
        )


def mentions_of(result: xr.Dataset) -> str:
    """What the corpus asks about, in words."""
    if confusion_page.has_conditions(result):
        return "questions"
    return "pronouns" if asks(result) else "mentions"


def baseline(head: ChosenHead, name: str) -> Estimate:
    """The score of a baseline; one that never finds an antecedent is not among those of the page."""
    return head.baselines.get(name, Estimate(0.0))


def special(numbers: Numbers) -> Finding:
    """How many heads are special for any kind of mention."""
    result = numbers.result
    _, total, _ = special_heads(result, "mention_type")
    accuracy = result["accuracy"].isel(mention_type=0).where(result["special"].max("mention_type") == 1)
    heads = strongest(accuracy) if bool(accuracy.notnull().any()) else []
    names = f" The heads: {first_of([head.head for head in heads], NAMED, ', ')}." if heads else ""
    both = result["baseline_accuracy"]
    reference = both.where(both["baseline"] == result["reference"]).max("baseline")
    gain = above_baseline(with_interval(result, "accuracy"), reference)
    cases = result["accuracy_n_examples"]
    count = counted(int(cases.isel(mention_type=0)), mentions_of(result))
    return Finding.judged(
        special_claim(result, gain, reference, cases),
        f"The rules: nearest mention, and nearest mention of the same head word.{names}{count}",
        holds=f"{several(len(heads), 'head')} of {total} {agree(len(heads), 'beats', 'beat')} both simple rules",
        fails="No head beats both simple rules",
        undecided="It cannot be told whether a head beats both simple rules",
        unit=f"{mentions_of(result)} of one type",
    )


def gender_ratio(numbers: Numbers) -> Finding:
    """Whether the chosen head is better on the pronouns of a gender."""
    ratio = numbers("chosen_bias_ratio")
    better, judge = ("feminine", above) if ratio.value > 1 else ("masculine", below)
    return Finding.judged(
        judge(ratio, 1.0, numbers.n("chosen_f1", gender="overall")),
        f"F1 of feminine over masculine pronouns is {ratio}.",
        holds=f"The chosen head is better on {better} pronouns",
        fails="The chosen head is as good on feminine as on masculine pronouns",
        undecided="The chosen head: no clear difference of feminine and masculine pronouns",
        unit="pronouns",
    )


def stereotyped(numbers: Numbers) -> Finding:
    """Whether attention to an occupation depends on the gender of the pronoun."""
    gap, q = numbers.array("attention_gap"), numbers.array("attention_gap_q")
    more, less, total = gap_counts(numbers, "attention_gap")
    surest = q.where(gap.notnull()).fillna(2).argmin(q.dims)
    difference, pairs = of_array(gap.isel(surest)), numbers.n("attention")
    return Finding.judged(
        above(difference if difference.value > 0 else -difference, 0.0, pairs, q=float(q.isel(surest))),
        f"Their attention to an occupation depends on the gender of the pronoun.{counted(pairs, 'pairs of sentences')}",
        holds=f"Stereotypes show in {several(more + less, 'head').lower()} of {total}",
        fails="Stereotypes show in no head",
        undecided=f"Stereotypes show in no head of {total} beyond chance",
        unit="pairs of sentences",
    )


def gap_counts(numbers: Numbers, name: str) -> tuple[int, int, int]:
    """Returns: the heads with a sure gap above 0, with one below 0, and all heads."""
    gap = numbers.array(name)
    sure = gap.where(numbers.result[f"{name}_q"] < RATE)
    return int((sure > 0).sum()), int((sure < 0).sum()), int(gap.notnull().sum())


def easiest(numbers: Numbers) -> Iterator[Finding]:
    """The kind of mention that its chosen head finds best."""
    if len(frequent := [kind for kind in kinds(numbers.result)[1:] if kind.enough]) > 1:
        first, *others = sorted(frequent, key=lambda kind: -kind.score.value)
        share = f"Head {first.head} finds an antecedent for {first.score:.0%} of the {KINDS[first.name].lower()}"
        rule = f"always choosing the {WORDS[first.reference]} finds {baseline(first, first.reference):.0%}"
        beyond = [apart(first.score, kind.score, min(first.held_out, kind.held_out)) for kind in others]
        yield Finding.judged(
            weakest([first.claim, *beyond]),
            f"{share}; {rule}.",
            holds=f"{KINDS[first.name]} are the easiest",
            fails="No kind of mention stands out",
            undecided="It cannot be told which kind of mention is the easiest",
            unit="mentions",
        )


def rules(numbers: Numbers) -> Iterator[Finding]:
    """The rules beside the chosen head of all mentions."""
    mentions = mentions_of(numbers.result)
    for head in [head for head in kinds(numbers.result)[:1] if "rules" in head.baselines]:
        by_hand = head.baselines["rules"]
        yield Finding.judged(
            apart(head.score, by_hand, head.held_out),
            f"They find an antecedent for {by_hand:.0%} of the {mentions}, head {head.head} for {head.score:.0%}.",
            holds="Rules written by hand do worse",
            fails="Rules written by hand do as well or better",
            undecided="Rules written by hand: no clear difference from the chosen head",
            unit=mentions,
        )


def without_function(numbers: Numbers) -> Iterator[Finding]:
    """Whether chosen heads look at special tokens where there is no mention of their kind."""
    yield from no_op(numbers.result, kinds(numbers.result), WITHOUT)


def tested(numbers: Numbers) -> Finding:
    """How heads were tested."""
    tests = f"Benjamini-Hochberg over {tests_made(numbers.result)} heads and kinds"
    return Finding(
        "Special heads",
        f"They beat nearest and head match by at least 10 points, in at least {LEAST_CASES} mentions of some kind and "
        f"with q < {RATE} ({tests}).",
    )


def genders(numbers: Numbers) -> Finding:
    """How many heads are better on the pronouns of a gender."""
    ratio = numbers.array("bias_ratio")
    feminine, masculine = int((ratio["lower"] > 1).sum()), int((ratio["upper"] < 1).sum())
    return Finding(
        "Gender",
        f"Of {int(ratio.notnull().sum())} heads {feminine} are better on feminine and {masculine} on masculine "
        "pronouns by the 95% interval, not corrected for the number of heads.",
    )


def stereotypes(numbers: Numbers) -> Iterator[Finding]:
    """How many heads have a gap, in attention and in what they prefer."""
    for name, verb in (
        ("attention_gap", "the occupation gets more attention if the pronoun has the expected gender"),
        ("preference_gap", "the occupation is preferred more often if the pronoun has the expected gender"),
    ):
        more, less, total = gap_counts(numbers, name)
        counts = f"q < {RATE} each, n = {numbers.n(name.removesuffix('_gap')):,} pairs"
        yield Finding(GAPS[name], f"In {more} of {total} heads {verb}, in {less} the reverse ({counts}).")


def chosen_gap(numbers: Numbers) -> Finding:
    """What the chosen head prefers."""
    gap, result = numbers("chosen_preference_gap"), numbers.result
    position = {name: int(result[f"chosen_{name}"][0]) for name in HEAD}
    return Finding(
        "Stereotypes in the chosen head",
        f"Head {head_name(**position)} finds the most antecedents on one half. On the other half its preference for "
        f"the occupation differs by {gap:+} points between pro and anti sentences (above 0: stronger in pro "
        "sentences).",
    )


def limits(numbers: Numbers) -> Finding:
    """What a reader has to keep in mind."""
    texts = [NO_TREES if asks(numbers.result) else DOCUMENTS, OF_THIS_HEAD]
    return Finding("Limits", " ".join(texts + [text for name, text in LIMITS.items() if name in numbers.result]))


def beside_baselines(numbers: Numbers) -> Figure:
    """The chosen heads and baselines by kind of mention."""
    head = numbers.array("chosen_accuracy").drop_vars("n_examples", errors="ignore")
    base = numbers.array("chosen_baseline").sel(baseline=baselines(numbers.result))
    base = base.transpose("mention_type", "baseline")
    names = [WORDS[str(name)] for name in base["baseline"].values]
    base = base.rename(baseline="which").assign_coords(which=names)
    both = joined([head.expand_dims(which=["best head"]), base], "which")
    attributes = {"long_name": "mentions whose antecedent is found", "units": "share of mentions"}
    both = both.transpose("mention_type", "which").rename("accuracy").assign_attrs(attributes)
    caption = (
        "Mentions whose antecedent the chosen head and the baselines find, with 95% intervals, on the half of the "
        "corpus on which heads were not chosen. After Clark et al. (2019), Table 2."
    )
    return Figure("chosen", BEST, bars(both), caption, "chosen_accuracy")


def all_heads(numbers: Numbers) -> Iterator[Figure]:
    """How often every head finds an antecedent, by kind of mention and by layer."""
    result, accuracy = numbers.result, numbers.array("accuracy")
    overall = accuracy.isel(mention_type=0, drop=True)
    caption = "How often each head points from a mention at one of its antecedents."
    plotted = overall if accuracy.sizes["mention_type"] == 1 else accuracy
    yield Figure("accuracy", WHERE, heatmap(plotted), caption, "accuracy")
    first = result.isel(mention_type=0)
    name = str(first["reference"].item())
    value = float(first["baseline_accuracy"].sel(baseline=name))
    caption = f"A dot for each head, a line for the layer's mean: antecedents found, {ALL[mentions_of(result)]}."
    chart = by_layer(overall, reference=value, reference_label=WORDS[name])
    yield Figure("all-by_layer", WHERE, chart, caption, "accuracy")


def gender_gap(numbers: Numbers) -> Figure:
    """F1 of every head on feminine pronouns minus that on masculine ones."""
    feminine, masculine = (numbers.result["f1"].sel(gender=name, drop=True) for name in ("feminine", "masculine"))
    attributes = {"long_name": "F1 of feminine minus that of masculine pronouns", "units": "F1"}
    chart = heatmap((feminine - masculine).rename("gap").assign_attrs(attributes), diverging=True)
    caption = "Above 0: better on feminine pronouns. Below 0: better on masculine pronouns."
    return Figure("f1_gap", GENDER, chart, caption, "bias_ratio")


ATTENTION = "Attention of the pronoun to the occupation in pro sentences minus that in anti sentences."
PREFERENCE = "How often a head prefers the occupation: pro sentences minus anti sentences."
PAGE = StudyParts(
    highlights=(
        *(best, special, gender_ratio, stereotyped, easiest, rules),
        *(without_function, confusion_page.confused),
    ),
    findings=(tested, genders, stereotypes, chosen_gap, limits),
    charts=(
        *(beside_baselines, all_heads),
        Chart("f1", "heatmap", GENDER, "F1 over the names of all passages, by the gender of the pronoun."),
        gender_gap,
        Chart("attention_gap", "heatmap", GENDER, ATTENTION, style={"diverging": True}),
        Chart("preference_gap", "heatmap", GENDER, PREFERENCE, style={"diverging": True}),
        confusion_page.figures,
    ),
    tables=(table_2, by_gender, gaps, confusion_page.table),
    kinds=(head_kinds,),
    card=CARD,
)
