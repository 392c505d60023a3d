"""Published figures of BERT-base beside those of a result, with how sure each of them is."""

from collections.abc import Iterator

from headscope.report.numbers import Numbers, leaving_out
from headscope.report.published import PublishedFigure, published_table
from headscope.report.tables import Table
from headscope.report.wording import Estimate, of_array
from headscope.studies.words.cloze.tables import suites

CAPTION = (
    "BERT-base in per cent, compared with this model. The papers read other samples of the suites and in "
    "part other vocabularies: compare with care. Figures that no source confirms are left out."
)
KAUF = "Kauf and Ivanova 2023, released scores"
GOLDBERG = "Goldberg 2019"
BLIMP = {
    "within-word": (84.7, (97.1, 81.0, 82.3, 81.9, 98.4, 89.6, 83.0, 96.5, 75.0, 85.0, 69.8, 92.1)),
    "plain": (84.2, (97.0, 80.0, 82.3, 79.6, 97.6, 89.4, 85.0, 96.5, 73.6, 84.7, 62.6, 92.4)),
}
PHENOMENA = (
    "anaphor_agreement argument_structure binding control_raising determiner_noun_agreement ellipsis "
    "filler_gap_dependency irregular_forms island_effects npi_licensing quantifiers subject_verb_agreement"
).split()
VERBS = {
    "simple_agrmt": 100,
    "sent_comp": 83,
    "vp_coord": 89,
    "long_vp_coord": 98,
    "subj_rel": 84,
    "simple_reflexives": 94,
    "reflexive_sent_comp": 89,
    "reflexives_across": 80,
}


# Suite; what the number is; its variable and label, where a suite is the mean over its phenomena; per cent; how it was
# checked, a key of `wording.LEVELS`; source.
Published = tuple[str, str, str, str, float, str, str]


def _of_suite(suite: str, words: str, variable: str, value: float, level: str, source: str) -> Published:
    return suite, words, variable, suite, value, level, source


def _verb(construction: str, value: float) -> Published:
    label, source = f"{construction}, word in the gap", f"{GOLDBERG}, Table 3"
    return "marvin_linzen_verbs", construction, "accuracy", label, value, "P", source


def _negation(kind: str, condition: str, value: float, table: str) -> Published:
    label, source = f"negation: {kind}: {condition}", f"Ettinger 2020, Table {table}"
    return "ettinger", f"{kind}, {condition}", "accuracy_by_condition", label, value, "S", source


OTHERS = (
    _of_suite("agreement", "both kinds", "accuracy_by_suite", 83.3, "R", f"{GOLDBERG}, released scores"),
    *(_verb(name, value) for name, value in VERBS.items()),
    _negation("affirmative", "simple", 100, "12"),
    _negation("negated", "simple", 0, "12"),
    _negation("negated", "natural", 87.5, "14"),
    _negation("negated", "less natural", 0, "14"),
    (
        "ettinger_words",
        "affirmative, simple: precision at 1",
        "accuracy_by_condition",
        "negation: affirmative, any word: simple",
        38.9,
        "R",
        "computed from released predictions",
    ),
    _of_suite("lama", "precision at 1", "accuracy", 31.1, "R", "Petroni et al. 2019, in OptiPrompt's slides"),
    _of_suite("lama", "most frequent answer", "accuracy_of_most_frequent", 17.3, "R", "OptiPrompt's slides"),
    _of_suite("google_re", "precision at 1", "accuracy", 9.8, "S", "Petroni et al. 2019, in KEPLER's Table 11"),
    _of_suite("squad", "precision at 1", "accuracy", 14.1, "S", "Petroni et al. 2019, in KEPLER's Table 11"),
    _of_suite("pararel", "wordings agree", "consistency", 58.5, "P", "Elazar et al. 2021"),
)


def published(numbers: Numbers) -> Iterator[Table]:
    """The figures that papers have of the suites of a result; no table without one."""
    yield from published_table(_rows(numbers), CAPTION, keys=("Suite", "Number"))


def _rows(numbers: Numbers) -> Iterator[PublishedFigure]:
    there = suites(numbers)
    for suite, words, variable, label, value, level, source in (*_blimp(numbers.words.get("masking", "")), *OTHERS):
        if there.get(suite):
            with leaving_out(numbers.result):
                dim = str(numbers.result[variable].dims[0])
                is_mean = dim == "phenomenon" and label == suite
                array = numbers.array(variable, **{dim: there[suite] if is_mean else label})
                here = Estimate(float(array.mean())) if is_mean else of_array(array)
                named = (suite, words.replace("_", " "))
                yield PublishedFigure(named, here.cell(".1f", 100), f"{value:.1f}", source, level)


def _blimp(masking: str) -> Iterator[Published]:
    overall, by_phenomenon = BLIMP.get(masking, (0.0, ()))
    for name, value in zip(PHENOMENA, by_phenomenon, strict=False):
        yield "blimp", name, "accuracy", name, value, "R", KAUF
    if overall:
        yield _of_suite("blimp", "all", "accuracy_by_suite", overall, "R", KAUF)
