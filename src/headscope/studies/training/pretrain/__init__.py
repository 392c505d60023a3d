"""Train small models from random weights in several ways, and compare what their heads become.

After what A Primer in BERTology reviews (Rogers et al. 2020, sections 6.1 and 6.2): masks of whole words and spans
(Joshi et al. 2020), next sentences (Devlin et al. 2019), the order of sentences (Lan et al. 2020).
"""

from headscope.study import Dimension, Number, Study

WAY, STEPS, SEED_STEPS = ("way",), ("way", "step"), ("way", "seed", "step")
LOSS, SHARE = "loss of masked pieces of the held-out text", "attention of a model's heads at each step"
ENTROPY, FIRST = "entropy of attention at each step, mean over heads", "step at which heads first attend so"
CLARK = "after Clark et al. 2019, section 3"
STUDY = Study(
    question="What would the heads be, had the model been trained in another way?",
    source="after Rogers et al. 2020, sections 6.1 and 6.2",
    survey="training: headscope pretrain TEXT",
    example="headscope pretrain wiki.txt --ways tokens,words -o out/lab",
    packages={"accelerate": ""},
    shared_folder=True,
    quick=("--shapes", "1x2x8", "--epochs", "1", "--batch", "2", "--max-tokens", "16"),
    required=("held_out_loss", "focus_share"),
    dims={"way": Dimension("way to pre-train a model, with its shape and part of the text where there are several")},
    numbers=(
        Number(
            *("held_out_loss", LOSS, "nats", STEPS),
            definition="cross entropy of the held-out text under 15% of [MASK] (of unk [UNK]), the same for all ways; "
            "of next-word of all next pieces; mean over seeds with its interval (t distribution, from two seeds on)",
        ),
        Number("held_out_loss_by_seed", f"{LOSS}, of each seed", "nats", SEED_STEPS),
        Number(
            *("frequency_gain", "loss by the frequency of pieces, minus that of the model", "nats", WAY),
            definition="loss of the same masked pieces by their frequency in the training text alone, minus the loss "
            "at the end; its interval has the errors over seeds and over held-out documents, else inputs",
        ),
        Number(
            *("focus_share", SHARE, "share of attention", ("way", "focus", "step"), CLARK),
            definition="previous, next: attention to that token by the head of the model that has most of it; "
            "special: attention to [CLS] and [SEP], mean over heads; mean over seeds",
        ),
        Number(
            *("focus_share_by_seed", f"{SHARE}, of each seed", "share of attention"),
            *(("way", "seed", "focus", "step"), CLARK),
        ),
        Number("mean_entropy", ENTROPY, "nats", STEPS, CLARK),
        Number("mean_entropy_by_seed", f"{ENTROPY}, of each seed", "nats", SEED_STEPS, CLARK),
        Number(
            *("first_step", FIRST, "steps", ("way", "focus"), CLARK),
            definition="step at which focus_share reaches one third, between two steps by their logarithms; geometric "
            "mean over seeds, where it does in all of them",
        ),
        Number(*("first_step_by_seed", f"{FIRST}, of each seed", "steps", ("way", "seed", "focus"), CLARK)),
        Number(
            *("train_loss", "loss in training", "nats", ("way", "progress")),
            source="mean over the steps of each fiftieth of a training, and over seeds",
            definition="the objective of the way, mean over the steps of each fiftieth of a training, and over seeds",
        ),
        Number("train_seconds", "time of all training steps", "s", WAY, "mean over seeds"),
        Number("trained_parameters", "parameters that are trained", "parameters", WAY),
    ),
)
