"""Remove the least important heads, and save the smaller model.

Michel et al. 2019, section 4: heads are removed in the order of their importance, some at a time, and the score is
measured after each step. Here their rows and columns are cut out of the weights, and the model can be trained after
each step.
"""

from headscope.study import Cost, Dimension, InSurvey, Number, Study

STEPS, METRICS, PRUNED = ("share_removed",), ("metric",), "the pruned model"
SCORES, PAIRED = (*STEPS, *METRICS), "below 0 where the pruned model is worse, on the same dev examples"
GAIN, PER_TOKEN = (
    "gain of the main metric by pruning, on the",
    "multiplications per token in the layers, for 128 tokens",
)
PARTS, SUBNETWORKS = ("subnetwork", "metric"), "Prasanna et al. 2020"
CHOOSING = "half of dev that chose the number of heads; with a tolerance, and without a train split"
CHANCE = (
    "score of always the same answer (the most frequent class, or a constant number), or of a choice of items at random"
)
STUDY = Study(
    question="How small can the model be?",
    page="how-to/prune.md",
    source="Michel et al. 2019, section 4",
    survey=InSurvey("task", Cost(150, 0), options=("--tolerance", "0.02")),
    example="headscope prune out/tuned/model --task mrpc --data GLUE --share 0.5 -o out/pruned",
    packages={"accelerate": "finetune_epochs"},
    quick=("--share", "0.5", "--step", "0.25"),
    required=("pruned_score",),
    dims={"share_removed": Dimension("share of the model's heads that is removed", "share")},
    attributes={"forward_s": "object", "pruning": "object", "spared": "number"},
    numbers=(
        Number("pruned_score", "score of the pruned model", "score", SCORES, "dev examples"),
        Number(
            *("score_change", "change of the score by pruning", "score", SCORES),
            source="pruned minus unpruned, on the same dev examples",
        ),
        Number(
            *("choosing_gain", f"{GAIN} half that chose the number of heads", "score", STEPS, PAIRED),
            definition=f"{GAIN} {CHOOSING}",
        ),
        Number(
            *("tested_gain", f"{GAIN} examples that test it", "score", STEPS, PAIRED),
            definition=f"{GAIN} examples that test it; with a tolerance",
        ),
        Number(
            *("chance", "score of always the same answer", "score", METRICS, "the commonest class of dev, or 0"), CHANCE
        ),
        Number("heads_left", "heads left", "heads", (*STEPS, "layer"), PRUNED),
        Number("parameters", "parameters of the model", "parameters", STEPS, PRUNED),
        Number("megabytes", "size of the parameters", "megabytes", STEPS, PRUNED),
        Number("multiplications", PER_TOKEN, "multiplications", STEPS, PRUNED),
        Number(
            *("cache_bytes", "keys and values that a token adds to the cache", "bytes", STEPS, PRUNED),
            definition="bytes of the keys and values of a token in all layers, in the number format of the model; of a "
            "model that predicts the next word",
        ),
        Number(
            *("removed_at", "place in the order of removal, least important first", "place, from 1", ("layer", "head")),
            source="heads that stay have none",
        ),
        Number(
            *("subnetwork_score", "score of the whole model with a part of its heads", "score", PARTS, SUBNETWORKS),
            definition="score of the whole model where the output of all other heads is 0: all heads; those that stay "
            "(good); as many at random, mean over draws; as many of the least important, in the order of removal (bad)",
        ),
        Number(
            *("subnetwork_lead", "score with the heads that stay minus that with as many others", "score", PARTS),
            *(SUBNETWORKS, "score of the good part minus that of another; its interval is over examples and draws"),
        ),
        Number(
            *("subnetwork_p_value", "share of random parts, and of the heads that stay, that do as well or better"),
            *("probability", METRICS, SUBNETWORKS),
        ),
        Number(
            *("reloaded_score", "score of the saved model", "score", METRICS),
            source="loaded from its folder, dev examples",
        ),
    ),
)
