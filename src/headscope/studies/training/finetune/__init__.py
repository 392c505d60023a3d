"""Fine-tune an encoder on a task and score it, from pre-trained, random or frozen weights.

Kovaleva et al. 2019, Table 1: an untrained classifier on BERT ("pretrained"), BERT trained from random weights, and
BERT fine-tuned. Beside them "frozen": only the classifier is trained.
"""

from headscope.study import Dimension, Number, Study

DODGE = "Dodge et al. 2020; A Primer in BERTology (Rogers et al. 2020), section 6.3"
CHANGES = "after Kovaleva et al. 2019, section 4.3, and a review of the paper"
SIMPLE = "simple models on the same train split (one sentence alone: Gururangan et al. 2018)"
RUNS = "heads of the kept models of several runs, on the same dev examples"
WAY, LAYERS, HEADS = ("task", "init"), ("task", "init", "layer"), ("task", "init", "layer", "head")
ROWS, BY_SOURCE = ("task", "init", "metric"), ("task", "init", "metric", "seed_source")
LAST = "log ratio of the last layer's change of attention"
PATH = "all updates of a layer's weights, added up, as a share of the weights' norm"
MEMORY = "memory of a training: weights, gradients, Adam's moments, what the first batch keeps"
AGREEMENT = "agreement of two runs on the heads: rank correlation; for kinds the share of heads"
STUDY = Study(
    question="Where does the score of a fine-tuned model come from?",
    page="fine-tuning.md",
    source="Kovaleva et al. 2019, Table 1",
    survey="training: headscope finetune MODEL --task NAME --data FOLDER",
    example="headscope finetune minilm --task mrpc --data GLUE -o out/tuned",
    packages={"accelerate": "", "peft": "ways=lora"},
    shared_folder=True,
    quick=("--epochs", "1", "--batch", "4"),
    required=("score", "chance"),
    dims={
        "order_seed": Dimension("seed of the order of the examples of a training", "whole"),
        "seed_source": Dimension(
            "cause of the spread of a score: seed of new weights, seed of the order, both, other dev examples"
        ),
        "chain_length": Dimension("steps of inference that an answer takes", "whole", 1, 100),
        "trials": Dimension("number of trainings of which the best is kept", "whole", 1, 1_000_000),
        "stopped_share": Dimension("share of the trainings that are stopped early", "share"),
    },
    numbers=(
        Number(
            *("score", "score on dev", "fraction", ROWS, "the kept model, mean over seeds"),
            definition="score of the kept model on dev, mean over seeds; its interval is a bootstrap over dev "
            "examples, with the same resamples for all starts and seeds",
        ),
        Number(
            *("score_std", "spread of score", "fraction", ROWS, "standard deviation over seeds"),
            definition="standard deviation of the score over seeds (n - 1)",
        ),
        Number(
            "score_by_seed", "score of each seed", "fraction", ("task", "init", "seed", "metric"), "the kept models"
        ),
        Number(
            *("seed_spread", "spread over seeds, in standard errors over dev examples", "ratio", ROWS, DODGE),
            definition="score_std divided by the mean standard error of the score over dev examples; its interval "
            "(chi-square) is over seeds",
        ),
        Number(
            *("early_correlation", "rank correlation over seeds of early and last score", "correlation", ROWS, DODGE),
            definition="Spearman's correlation, over four seeds or more, of the score after a third of the epochs with "
            "that at the end; interval by Fisher's z",
        ),
        Number(
            *("gradient_norm", "norm of the gradient of a layer's weights", "norm", LAYERS),
            source="mean over the recorded steps and over seeds; after clipping",
            definition="norm of the gradient of a layer's weights, after clipping; mean over steps and seeds",
        ),
        Number(
            *("update_path", PATH, "share of the norm", LAYERS, CHANGES),
            definition="mean over recorded steps of the norm of the update divided by that of the weights, times the "
            "number of steps; mean over seeds",
        ),
        Number(
            *("attention_change", "change of the attention of a layer in the training", "1 − cosine", LAYERS, CHANGES),
            definition="1 minus the cosine of attention after the last step and before the first, on 100 dev examples "
            "at most; mean over heads and seeds",
        ),
        Number(
            *("change_per_update", "change of a layer's attention per update of its weights", "ratio", LAYERS, CHANGES),
            definition="attention_change / update_path, mean over seeds; its interval (t distribution) is over three "
            "seeds or more",
        ),
        Number("last_layer_change", f"{LAST} to the mean of the others", "log ratio", WAY, CHANGES),
        Number("last_layer_per_update", f"{LAST} per update to the mean of the others", "log ratio", WAY, CHANGES),
        Number(
            *("epoch_score", "score after each epoch", "fraction", ("task", "init", "epoch", "metric")),
            source="mean over seeds",
        ),
        Number(
            *("train_loss", "loss in training", "nats, for scores squared error", ("task", "init", "progress")),
            source="mean over the steps of each fiftieth of a training, and over seeds",
        ),
        Number(
            *("chain_score", "score on dev examples by the steps of inference that they take", "fraction"),
            *(("task", "init", "chain_length"), "A Primer in BERTology (Rogers et al. 2020), section 9.2"),
            definition="main metric of the task `inference` on dev, by the comparisons that an answer takes; more than "
            "two are in no training example",
        ),
        Number(
            *("chance", "score of always the same answer", "fraction", ("task", "metric")),
            source="the most frequent class of dev, or 0",
            definition="score of always the most frequent class of dev; 0 for correlations",
        ),
        Number(
            *("paper_score", "score of BERT-base in the paper", "fraction", ROWS),
            definition='score of BERT-base in the paper; its table heads STS-B with "Acc", taken as Pearson here',
        ),
        Number("baseline_score", "score of a simple model on dev", "fraction", ("task", "baseline", "metric"), SIMPLE),
        Number(
            *("baseline_gain", "score minus a simple model's", "fraction", ("task", "init", "baseline", "metric")),
            source="on the same dev examples",
            definition="score minus that of a simple model, on the same dev examples and resamples (documents where "
            "they are known)",
        ),
        Number(
            *("way_gain", "score minus that of training all weights", "fraction", ROWS, "on the same dev examples"),
            definition="score minus that of finetuned, on the same dev examples and resamples",
        ),
        Number(
            *("trained_parameters", "parameters that are trained", "parameters", WAY),
            source="of the network with its new weights",
            definition="parameters with a gradient, new ones included; like all costs only for several ways",
        ),
        Number(
            *("train_seconds", "time of all training steps", "s", WAY, "mean over runs"),
            definition="time of all training steps, those of a first training included; mean over runs",
        ),
        Number(
            *("train_memory", MEMORY, "bytes", WAY, "mean over runs"),
            definition="bytes of all weights in float32, of gradients and Adam's two moments of the trained ones, and "
            "of what the first batch keeps for its backward pass; mean over runs",
        ),
        Number(
            *("score_by_pair", "score of each pair of seeds", "fraction"),
            *(("task", "init", "seed", "order_seed", "metric"), "the kept models"),
            definition="score of each pair of a seed of new weights and a seed of the order of examples and dropout; "
            "then score_by_seed is the mean over the seeds of the order",
        ),
        Number(
            *("seed_deviation", "standard deviation of the score by its source", "fraction", BY_SOURCE),
            source="two-way analysis of variance",
            definition="standard deviation of the score by weights, order, and the rest, from a two-way analysis of "
            "variance with one run a pair; for examples, the standard error of a run's score over dev examples",
        ),
        Number("seed_p", "p-value of the F test of one kind of seed", "probability", BY_SOURCE, "against the rest"),
        Number(
            *("expected_best", "expected best score of several runs", "fraction", (*ROWS, "trials"), DODGE),
            definition="expected best score of this many runs, drawn from all with replacement; bootstrap over runs",
        ),
        Number(
            *("stopping_loss", "best score lost by stopping a share of the runs early", "fraction"),
            *((*ROWS, "stopped_share"), DODGE),
            definition="best score of all runs minus that of those that go on, if a share of them is stopped after the "
            "first third of the epochs; bootstrap over runs",
        ),
        Number(
            *("stopping_saved", "steps saved by stopping a share of the runs early", "share of steps"),
            *(("stopped_share",), DODGE),
        ),
        Number(
            *("head_agreement", AGREEMENT, "agreement", ("task", "init", "head_number"), RUNS),
            definition="mean over pairs of runs of the rank correlation over heads, of importance (gradient of the "
            "loss in the head's gate), similarity (to its maps before the training) and entropy of attention; for "
            "kinds the share of heads that have the same; jackknife over runs",
        ),
        Number(
            "important_runs", "runs in which a head is in the top tenth by importance", "share of runs", HEADS, RUNS
        ),
        Number(
            *("run_importance", "importance of a head, by the gradient of the loss", "loss", HEADS),
            source=f"mean over {RUNS}",
        ),
        Number(
            *("run_similarity", "similarity of a head to itself before training", "cosine", HEADS),
            source=f"mean over {RUNS}",
        ),
        Number("same_kind_runs", "runs in which a head has its most frequent kind", "share of runs", HEADS, RUNS),
    ),
)
