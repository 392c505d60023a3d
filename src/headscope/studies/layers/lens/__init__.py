"""At which layer the model's prediction of a word is made: each layer read through the model's own head."""

from headscope.study import Dimension, Number, Study

BY_SPACE = ("lens", "space")
BY_CLASS = (*BY_SPACE, "word_class")
DIN = "Din et al. 2024, section 4"
GAIN = "share of right predictions of the last layer minus that of the most frequent piece"
DIVERGENCE = "Kullback-Leibler divergence of the last layer's distribution over pieces from that of the layer"
STUDY = Study(
    question="At which layer is the prediction of a word made?",
    source="nostalgebraist 2020; Din et al. 2024, section 3",
    survey="a head for words, which pretrain-head trains: headscope lens MODEL TEXT",
    example="headscope lens bert-base-uncased wiki.txt --suite agreement --data DATA -o out/lens",
    without=("workers", "engine", "address", "gpus_per_worker"),
    quick=("--predictions", "40", "--map-predictions", "40"),
    required=("final_first",),
    dims={
        "lens": Dimension("how the states of a layer are read: plain, as they are; mapped to those of the last layer"),
        "space": Dimension("hidden states by layer, 0 for the embeddings that enter the first", "whole"),
    },
    numbers=(
        Number("right", "predictions of the right piece", "share", BY_SPACE),
        Number("right_change", "share of right predictions minus that of the last layer", "share", BY_SPACE),
        Number("right_most_frequent", "predictions that are the most frequent piece of the other texts", "share"),
        Number("right_gain", GAIN, "share"),
        Number("final_first", "predictions that are those of the last layer", "share", BY_SPACE, DIN),
        Number("final_rank", "rank of the final prediction, geometric mean", "rank", BY_SPACE),
        Number(
            *("final_divergence", "divergence of the final distribution from that of the layer", "nats", BY_SPACE),
            definition=DIVERGENCE,
        ),
        Number("settled", "predictions that are settled: this layer and all above predict the same", "share", BY_SPACE),
        Number("settling_layer", "first layer from which on the prediction stays, mean", "layer", ("lens",)),
        Number("right_by_class", "predictions of the right piece, by class of words", "share", BY_CLASS),
        Number("loss_by_class", "loss of the right piece, by class of words", "nats", BY_CLASS),
        Number(
            *("agreement", "items whose good answer has the higher probability", "share", (*BY_SPACE, "condition")),
            source="Goldberg 2019",
        ),
    ),
)
