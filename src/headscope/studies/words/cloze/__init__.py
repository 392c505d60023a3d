"""Which sentences, words and facts does a model prefer? Minimal pairs and gaps, by phenomenon.

The model's own predictions of masked or next words score each text; no classifier is trained.
"""

from headscope.study import Dimension, Number, Study

ITEMS, FACTS, BY_PHENOMENON, BY_SUITE = "share of items", "share of facts", ("phenomenon",), ("suite",)
RIGHT = "items whose good text has a higher score"
OTHER_HALF = "the most frequent answer of the other half of the facts"
SALAZAR, PETRONI, POERNER = "Salazar et al. 2020", "Petroni et al. 2019", "Poerner et al. 2020"
WARSTADT, JUDGE = "Warstadt et al. 2019", "by a classifier of acceptability"
ELAZAR, JIANG = "Elazar et al. 2021", "Jiang et al. 2020"
BEST = "the wording that is best for the other half of the facts"
# A word is surely preferred if it is more probable by more than this (Ettinger's sensitivity test).
BEYOND = 0.01
# The first answers of the vocabulary among which precision is read.
NEAR, FEW = 10, 5
STUDY = Study(
    question="Which sentences, words and facts does the model prefer?",
    source=f"{SALAZAR}; Kauf and Ivanova 2023",
    survey="suites of sentences: headscope cloze MODEL SUITE --data FOLDER",
    example="headscope cloze bert-base-uncased blimp --data DATA -o out",
    required=("margin",),
    dims={
        "suite": Dimension("set of cloze items"),
        "control": Dimension("change of the texts of items"),
        "answer": Dimension("right answer, such as a residue, where there are at most 64"),
        "name_filter": Dimension("facts that are left out because the name of their subject gives the answer away"),
    },
    attributes={"suites": "object"},
    numbers=(
        Number(
            *("accuracy", RIGHT, ITEMS, BY_PHENOMENON),
            definition=f"{RIGHT} than all others; a tie (within 1e-5) counts one half; the interval is over items",
        ),
        Number("accuracy_by_lemma", f"{RIGHT}, lemmas resampled whole", ITEMS, BY_PHENOMENON),
        Number("margin", "score of the good text minus that of the best other", "nats", BY_PHENOMENON),
        Number("chance", "accuracy of a choice at random", ITEMS, BY_PHENOMENON),
        Number(
            *("accuracy_baseline", f"{RIGHT}, of baselines", ITEMS, ("phenomenon", "baseline")),
            definition="accuracy with random weights, and by the frequency of pieces alone (`unigram`)",
        ),
        Number(
            *("accuracy_control", f"{RIGHT}, of changed texts", ITEMS, ("phenomenon", "control")),
            definition="accuracy on `shuffled` words, and on `truncated` texts that begin two words before the gap or "
            "the first difference",
        ),
        Number(
            *("prediction_kept", "items whose best text or answer stays the same", ITEMS, ("phenomenon", "control")),
            definition="items whose best text (of facts, whose best answer of the phenomenon) stays with changed "
            "texts: an accuracy may stay while predictions do not",
        ),
        Number(
            *("accuracy_beyond", f"items whose good answer is more probable by more than {BEYOND}", ITEMS),
            *(BY_PHENOMENON, "Ettinger 2020"),
            f"gaps whose right answer is more probable than the best wrong one by more than {BEYOND}",
        ),
        Number(
            *("accuracy_by_pieces", f"{RIGHT}, by pieces of the answer", ITEMS),
            *(("suite", "pieces"), "Wallace et al. 2019"),
            "accuracy of answers in gaps by their number of pieces: 1, 2, 3, 4 or more",
        ),
        Number("accuracy_by_condition", f"{RIGHT}, by condition", ITEMS, ("condition",)),
        Number(
            *("judged_pairs", f"pairs whose good sentence is more acceptable, {JUDGE}", ITEMS, ("condition",)),
            WARSTADT,
        ),
        Number("judged_both", f"pairs that are right as a whole, {JUDGE}", ITEMS, ("condition",), WARSTADT),
        Number(
            *("judged_sentences", f"sentences that are judged rightly, {JUDGE}", ITEMS, ("condition",), WARSTADT),
            "mean of whether the good sentence is found acceptable, and of the share of worse ones that are not",
        ),
        Number("baseline_by_condition", f"{RIGHT}, by condition, of baselines", ITEMS, ("condition", "baseline")),
        Number("accuracy_by_suite", f"{RIGHT}, by suite", ITEMS, BY_SUITE),
        Number(
            *("control_fall", "accuracy minus that on changed texts, on the same items", ITEMS),
            *(("suite", "control"), SALAZAR),
        ),
        Number(
            *("baseline_gain", "accuracy minus that of baselines, on the same items", ITEMS),
            *(("suite", "baseline"), SALAZAR),
        ),
        Number(
            *("precision_at_10", f"items whose answer is among the first {NEAR} of the vocabulary", FACTS),
            *(BY_PHENOMENON, PETRONI),
            f"answers among the first {NEAR} of the vocabulary; `accuracy` is then precision at 1",
        ),
        Number(
            *("precision_at_5", f"items whose answer is among the first {FEW} of the vocabulary", FACTS),
            *(BY_PHENOMENON, PETRONI),
        ),
        Number(
            *("perplexity", "perplexity of the right answer", "perplexity", BY_PHENOMENON, SALAZAR),
            "exponential of the mean of minus the log-probability of the answer in its gap; of a sequence of letters "
            "the pseudo-perplexity",
        ),
        Number(
            *("perplexity_baseline", "perplexity of the right answer, of baselines", "perplexity"),
            *(("phenomenon", "baseline"), SALAZAR),
        ),
        Number(*("perplexity_by_suite", "perplexity of the right answer, by suite", "perplexity"), BY_SUITE, SALAZAR),
        Number("answer_probability", "probability of the right answer", "probability", BY_PHENOMENON),
        Number("answer_rank", "rank of the right answer in the vocabulary, geometric mean", "rank", BY_PHENOMENON),
        Number("accuracy_by_answer", "items whose answer comes first, by answer", ITEMS, ("answer",)),
        Number("perplexity_by_answer", "perplexity of the right answer, by answer", "perplexity", ("answer",), SALAZAR),
        Number("answer_share", "share of an answer among the right ones", ITEMS, ("answer",)),
        Number(
            *("accuracy_of_most_frequent", f"items whose answer is {OTHER_HALF.replace('answer', 'one')}", FACTS),
            *(BY_PHENOMENON, PETRONI),
        ),
        Number(
            *("accuracy_among_answers", "items whose answer comes first of all answers of the phenomenon", FACTS),
            *(BY_PHENOMENON, ELAZAR),
            "items whose answer comes first of all answers of the relation, without other right answers",
        ),
        Number(
            "accuracy_of_fill",
            "items whose answer is filled piece by piece from the left, told how many pieces it has",
            *(FACTS, BY_PHENOMENON, PETRONI),
            "answers that the model writes from left to right, told how many pieces they have. "
            "Other numbers leave answers of several pieces out",
        ),
        Number(
            *("accuracy_of_best_wording", f"facts that are right in {BEST}", FACTS, BY_PHENOMENON, JIANG),
            f"facts of one half that are right in {BEST}; wordings by themselves are conditions of `pararel`",
        ),
        Number(*("best_wording_gain", f"accuracy of {BEST} minus the mean over wordings", FACTS, BY_PHENOMENON, JIANG)),
        Number(
            *("first_wording_gain", f"accuracy of {BEST} minus that of the first wording", FACTS, BY_PHENOMENON, JIANG),
            "the same minus that of the first wording, the suite's own with `--paraphrase`",
        ),
        Number(
            "accuracy_by_name_filter",
            "items whose answer comes first, without those that the subject's name gives away",
            *(FACTS, ("phenomenon", "name_filter"), PETRONI),
            "precision at 1 without facts whose answer is a part of the subject's name (`no string match`), and "
            "without those that the model guesses from a word of a person's name alone (`no name guess`): Poerner et "
            "al. (2020)",
        ),
        Number(
            "consistency",
            "pairs of wordings of a fact that have the same best answer of the phenomenon's answers",
            *(FACTS, BY_PHENOMENON, PETRONI),
        ),
        Number(
            *("human_agreement", "rank correlation of margins with what people write", "correlation", BY_SUITE),
            source="Ettinger 2020",
            definition="Spearman's correlation, over items with human answers (`role reversal`), of the margin with "
            "the share of people who give the answer in the good text minus that in the worse one",
        ),
        Number("right_in_all", "facts that are right in all wordings", FACTS, BY_PHENOMENON, PETRONI),
        Number(
            "answer_gain", f"precision at 1 minus that of {OTHER_HALF}, on the same facts", ITEMS, BY_SUITE, PETRONI
        ),
        Number(
            "among_gain",
            "first of all answers of the phenomenon minus the most frequent one of the other half, on the same facts",
            *(ITEMS, BY_SUITE, ELAZAR),
            "`accuracy_among_answers` minus `accuracy_of_most_frequent`, on the same facts",
        ),
        Number(
            *("accuracy_given_away", "precision at 1 of facts whose answer the subject's name gives away", ITEMS),
            *(BY_SUITE, POERNER),
        ),
        Number(
            "accuracy_not_given_away",
            "precision at 1 of facts whose answer no subject's name gives away",
            *(ITEMS, BY_SUITE, POERNER),
        ),
    ),
)
