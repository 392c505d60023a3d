"""Coreference: which heads point from a mention at its antecedent, compared with simple baselines on the same mentions.

Clark et al. 2019, section 4.3 (Table 2). Of GAP also the F1 by gender, of WinoBias and Winogender what stereotypes do.
"""

from headscope.common_numbers import places, sinks
from headscope.study import Cost, Dimension, InSurvey, Kind, Number, Study

SHARE, HEADS, KIND = "share of mentions", ("layer", "head"), ("mention_type",)
SPECIAL = "whether the head beats nearest and head match by 10 points, with q < 0.05, in at least 50 mentions"
ACCURACY = (
    "share of mentions whose head word gives the most attention, among the candidates' head words, to that of an "
    "antecedent"
)
QUESTIONED = (
    "false discovery rate of heads called better than nearest and head match: of the larger p of McNemar's exact test "
    "over mentions and of a t test over documents, over all heads and kinds of mentions"
)
SIMPLE = "share of mentions whose antecedent a baseline picks: the nearest mention, head match, rules, one at random"
WEBSTER, WINO = "Webster et al. 2018, section 4", "Zhao et al. 2018; Rudinger et al. 2018"
LIN, ENTROPY = "Lin et al. 2019, section 4", "entropy of attention over the candidates"
RATIO, GAP_RATE = "F1 of feminine over masculine pronouns", "false discovery rate of heads said to have such a gap"
ATTENTION, SENTENCES = "share of attention", "share of sentences"
CONFUSION = f"{ENTROPY}' head words, rescaled to sum to 1, for corpora that ask for it: 0 is certain"
ANTECEDENTS = (
    Number(
        "accuracy",
        "mentions at whose antecedent the attention of their head word points",
        *(SHARE, HEADS + KIND),
        definition=ACCURACY,
    ),
    Number(
        "q_value",
        "false discovery rate of heads called better than nearest and head match",
        *("rate", HEADS + KIND),
        definition=QUESTIONED,
    ),
    Number("special", SPECIAL, "1 if so", HEADS + KIND),
    Number(
        "baseline_accuracy",
        "mentions whose antecedent a simple baseline picks",
        *(SHARE, (*KIND, "baseline")),
        definition=SIMPLE,
    ),
    Number("reference", "the better one of nearest and head match", "baseline", KIND),
    *places("the head that is best on one half", *KIND),
    Number("chosen_reference", "the better one of nearest and head match on one half", "baseline", KIND),
    Number("chosen_accuracy", "mentions whose antecedent the chosen head picks, on the other half", SHARE, KIND),
    Number(
        "chosen_baseline",
        "mentions whose antecedent a baseline picks, on the other half",
        *(SHARE, (*KIND, "baseline")),
    ),
    Number(
        "chosen_gain", "accuracy of the chosen head minus that of the chosen reference, on the other half", SHARE, KIND
    ),
    *sinks(*KIND),
)
GENDERS = (
    Number("f1", "F1 of names called coreferent with a pronoun", "F1", (*HEADS, "gender"), WEBSTER),
    Number("bias_ratio", "F1 of feminine pronouns over that of masculine ones", "ratio", HEADS, WEBSTER),
    Number(
        "baseline_f1",
        "F1 of names that a baseline calls coreferent with a pronoun",
        *("F1", ("baseline", "gender"), WEBSTER),
    ),
    Number("baseline_bias_ratio", f"{RATIO}, of a baseline", "ratio", ("baseline",), WEBSTER),
    Number(
        "chosen_baseline_f1",
        "F1 of names that a baseline calls coreferent with a pronoun, on the other half",
        *("F1", ("baseline", "gender"), WEBSTER),
    ),
    Number("chosen_baseline_bias_ratio", f"{RATIO}, of a baseline, on the other half", "ratio", ("baseline",), WEBSTER),
    Number("chosen_f1", "F1 of the head that is chosen on one half, on the other half", "F1", ("gender",), WEBSTER),
    Number("chosen_bias_ratio", f"{RATIO} of the chosen head", "ratio", (), WEBSTER),
)
STEREOTYPES = (
    Number(
        "attention",
        "attention of the pronoun to the candidate of the stereotype",
        *(ATTENTION, (*HEADS, "stereotype"), WINO),
    ),
    Number(
        "attention_gap",
        "attention to that candidate in the pro sentence minus that in the anti one",
        *(ATTENTION, HEADS, WINO),
    ),
    Number("attention_gap_q", GAP_RATE, "rate", HEADS, WINO),
    Number(
        "preference",
        "sentences in which that candidate gets more attention than the other",
        *(SENTENCES, (*HEADS, "stereotype"), WINO),
    ),
    Number("preference_gap", "preference in pro sentences minus that in anti sentences", SENTENCES, HEADS, WINO),
    Number("preference_gap_q", GAP_RATE, "rate", HEADS, WINO),
    Number("chosen_preference_gap", "preference gap of the chosen head, on the other half", SENTENCES, (), WINO),
)
STUDY = Study(
    question="Which heads point at the antecedent of a pronoun or a name?",
    source="Clark et al. 2019, section 4.3",
    attention=True,
    survey=InSurvey("mentions", Cost(1, 0.05, 0.1)),
    kinds=(
        Kind(
            *(20, "coreference", "#009e73"),
            "finds the antecedent of mentions better than the baselines, by 10 points or more",
        ),
    ),
    required=("reference",),
    options={"long": "truncate"},
    dims={
        "mention_type": Dimension("kind of mention"),
        "gender": Dimension("gender of a pronoun"),
        "stereotype": Dimension("whether a pronoun has the gender that is expected of an occupation"),
    },
    attributes={"n_mentions": "number"},
    numbers=(
        *(*ANTECEDENTS, *GENDERS, *STEREOTYPES),
        Number("confusion", ENTROPY, "bits", (*HEADS, "condition"), LIN, CONFUSION),
        Number("mean_confusion", f"mean over heads of the {ENTROPY}", "bits", ("condition",), LIN),
        Number("uniform_confusion", f"{ENTROPY}, of a uniform choice", "bits", ("condition",), LIN),
    ),
)
