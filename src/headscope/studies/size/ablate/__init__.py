"""Head ablation: a task's score with each head, each layer, or any set of heads disabled.

Kovaleva et al. 2019, section 4.6; beside it head importance by gradient (Michel et al. 2019) and how well it agrees.
"""

from headscope.common_numbers import IMPORTANCE
from headscope.study import Cost, Dimension, InSurvey, Kind, Number, Study

METRIC, HEADS, PHENOMENA, HALVES = ("metric",), ("layer", "head"), ("layer", "head", "phenomenon"), ("half", "metric")
SOURCES, PAIRS, TASKS, CHANGES = (
    ("head_source", "metric"),
    ("head_pair", "metric"),
    ("other_task", "metric"),
    ("perturbation",),
)
MCNEMAR = "exact McNemar test of the accuracy"
CORRECTED = f"{MCNEMAR}; Benjamini and Hochberg 1995"
SPECIAL, RANDOM = "the special heads of a result", "as many random heads of the same layers"
MARKED_SOURCE = "after Kovaleva et al. 2019, section 5, and Voita et al. 2019, section 5"
EXCESS = "loss of score without both heads of a pair, minus the sum of the losses without each"
BOTH = "heads in the top tenth by loss of score in both tasks"
BEST = "gain of score without the head that is best on one half of the examples"
SUITE = "Kovaleva et al. 2019, section 4.6, by phenomenon"
OF_ITEMS = (
    "change of the accuracy of a phenomenon without a head. An item is right if its good text scores higher than the "
    "others; of `--task shortcuts` a phenomenon is a heuristic and whether its pairs are entailed, and an answer is "
    "the largest output that says yes, or that says no"
)
KEPT = (
    "share of predictions of classes that stay when examples are changed: words shuffled within their sentence, "
    "negation added after the first auxiliary of the last sentence, a sentence of the pair emptied, sentences "
    "swapped, subject or object removed with what depends on it (of corpora with trees); examples that cannot be "
    "changed are left out"
)
NOT_LEARNED = (
    "score of always the same answer (the most frequent class, or a constant number), for items of a choice at "
    "random; if the model is not shown to be above it, no claim is made about its heads"
)
TRIGGERS, OF_TRIGGERS = "Wallace, Feng et al. 2019", ("flipped_class",)
FLIPPED = (
    "share of the right answers of a class that become wrong with searched words before the text, on the half of the "
    "examples that was not searched. The words are `trigger[flipped_class]`, each one piece of the vocabulary"
)
PERTURBED, PAIR_SOURCE = "Ettinger 2020; Rogers et al. 2020, section 4.1", "after Kovaleva et al. 2019, section 4.6"
ONE_HEAD, SHARED = "Michel et al. 2019, section 3.3, Table 6", "Michel et al. 2019, section 5"


def effects(name: str, dims: tuple[str, ...], without: str) -> tuple[Number, ...]:
    """The score of one kind of variants, its gain over the score with all heads, and the test of accuracy."""
    change = f"a change of accuracy {without}"
    return (
        Number(f"{name}_score", f"score {without}", "score", (*dims, "metric")),
        Number(f"{name}_gain", f"gain of score {without}", "score", (*dims, "metric")),
        Number(f"{name}_p_value", f"p-value of {change}", "probability", dims, MCNEMAR),
        Number(f"{name}_q_value", f"false discovery rate of {change}", "rate", dims, CORRECTED),
    )


STUDY = Study(
    question="Which heads does a task need?",
    page="fine-tuning.md",
    source="Kovaleva et al. 2019, section 4.6",
    survey=InSurvey("task", Cost(100, 0)),
    example="headscope ablate out/tuned/model --task mrpc --data GLUE -o out/ablated",
    kinds=(
        Kind(100, "needed", "#b2182b", "without it the score of the task, or of a phenomenon, is lower, beyond chance"),
    ),
    required=("baseline", "chance"),
    dims={
        "head_set": Dimension("heads that are disabled together"),
        "head_source": Dimension("result whose special heads are disabled together"),
        "other_task": Dimension("task of another result, whose heads are compared"),
        "head_pair": Dimension("two heads that are disabled together"),
        "ranking": Dimension("order of heads: by the loss of score without them, or by an estimator of importance"),
        "skipped": Dimension("part of a layer that is skipped: its attention, or the layer with its feed-forward part"),
        "half": Dimension("half of the examples on which a head was chosen"),
        "perturbation": Dimension("how examples of a task are changed"),
        "flipped_class": Dimension("class whose answers words before a text flip"),
        "case": Dimension("kind of pair within a heuristic of inference"),
    },
    coords={"chosen_head": ("U", HALVES), "trigger": ("U", OF_TRIGGERS)},
    numbers=(
        Number("baseline", "score with all heads", "score", METRIC),
        Number(
            *("chance", "score of always the same answer, or of a choice at random", "score", METRIC),
            definition=NOT_LEARNED,
        ),
        *effects("head", HEADS, "without each head"),
        *effects("layer", HEADS[:1], "without all heads of each layer"),
        *effects("set", ("head_set",), "without each set of heads"),
        *effects("skipped", ("skipped", "layer"), "where a part of a layer is skipped"),
        Number(
            "random_head_gain", "gain of score without a head drawn at random, the mean over heads", "score", METRIC
        ),
        Number("choosing_gain", f"{BEST}, on that half", "score", HALVES),
        Number("chosen_gain", f"{BEST}, on the other half", "score", HALVES),
        *IMPORTANCE,
        Number(
            *("rank_correlation", "rank correlation of importance and the loss of score without a head"),
            *("Spearman's correlation", ("estimator", "metric")),
        ),
        Number(
            *("gate_correlation", "rank correlation over heads of their trained gates and another order of heads"),
            *("Spearman's correlation", ("ranking",), "after Voita et al. 2019, section 4"),
        ),
        Number("special_heads", f"number of {SPECIAL}", "heads", SOURCES[:1], MARKED_SOURCE),
        Number("special_gain", f"gain of score without {SPECIAL}", "score", SOURCES, MARKED_SOURCE),
        Number(
            "special_random_gain",
            f"gain of score without {RANDOM}, mean over draws",
            *("score", SOURCES, MARKED_SOURCE),
        ),
        Number(
            "special_lead",
            f"loss of score without {SPECIAL}, minus that without {RANDOM}",
            *("score", SOURCES, MARKED_SOURCE),
        ),
        Number(
            "special_p_value",
            f"share of draws of {RANDOM}, and of {SPECIAL}, that lose as much or more",
            *("probability", SOURCES, MARKED_SOURCE),
        ),
        Number(
            "special_q_value",
            "false discovery rate of the permutation test, over results",
            *("rate", SOURCES, MARKED_SOURCE),
        ),
        Number("pair_gain", "gain of score without both heads of a pair", "score", PAIRS, PAIR_SOURCE),
        Number("pair_excess", EXCESS, "score", PAIRS, PAIR_SOURCE),
        Number("pair_q_value", f"false discovery rate of pairs with a positive {EXCESS}", "rate", PAIRS, PAIR_SOURCE),
        Number("mean_pair_excess", f"{EXCESS}, mean over pairs", "score", METRIC, PAIR_SOURCE),
        Number(
            "one_head_gain",
            "gain of score with one head of a layer, chosen on the other half of the examples",
            *("score", ("layer", "metric"), ONE_HEAD),
        ),
        Number(
            "one_head",
            "best head of a layer if it is the only one left, by the half of the examples that chooses it",
            *("head", ("layer", *HALVES), ONE_HEAD),
        ),
        Number(
            "one_head_q_value",
            "false discovery rate of a change of accuracy with one head of a layer",
            *("rate", HEADS[:1], ONE_HEAD),
        ),
        Number(
            "task_correlation",
            "rank correlation, over heads, of the loss of score without a head in this task and in another",
            *("Spearman's correlation", TASKS, SHARED),
        ),
        Number("shared_heads", f"number of {BOTH}", "heads", TASKS, SHARED),
        Number("shared_heads_expected", f"number of {BOTH}, expected by chance", "heads", TASKS[:1], SHARED),
        Number("shared_heads_p_value", f"p-value of as many {BOTH}", "probability", TASKS, SHARED),
        Number(
            *("prediction_kept", "predictions that stay with changed examples", "share of examples"),
            *(CHANGES, PERTURBED, KEPT),
        ),
        Number("perturbed_score", "accuracy on changed examples", "share of examples", CHANGES, PERTURBED),
        Number(
            "kept_by_chance",
            "predictions that would stay if those of the changed examples were in random order",
            *("share of examples", CHANGES, PERTURBED),
        ),
        Number(
            *("trigger_flip", "right answers of a class that become wrong with searched words before the text"),
            *("share of examples", OF_TRIGGERS, TRIGGERS, FLIPPED),
        ),
        Number(
            *("random_flip", "right answers of a class that become wrong with random words, the mean of 20 draws"),
            *("share of examples", OF_TRIGGERS, TRIGGERS),
        ),
        Number(
            *("trigger_lead", "answers that searched words flip, minus those that random words flip"),
            *("share of examples", OF_TRIGGERS, TRIGGERS),
        ),
        Number("phenomenon_baseline", "accuracy with all heads", "fraction", PHENOMENA[2:], SUITE),
        Number("phenomenon_gain", "gain of accuracy without each head", "fraction", PHENOMENA, SUITE, OF_ITEMS),
        Number("phenomenon_margin_gain", "gain of margin without each head", "nats", PHENOMENA, SUITE),
        Number(
            "phenomenon_p_value", "p-value of a change of accuracy without each head", "probability", PHENOMENA, MCNEMAR
        ),
        Number(
            "phenomenon_q_value",
            "false discovery rate of a change of accuracy without each head",
            *("rate", PHENOMENA, f"{CORRECTED}, over heads and phenomena"),
        ),
        Number(
            "case_score",
            "accuracy with all heads on each case",
            *("fraction", ("case",), "McCoy, Pavlick and Linzen 2019, with templates of our own"),
        ),
    ),
)
