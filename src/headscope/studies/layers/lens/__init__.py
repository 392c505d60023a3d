"""At which layer the model's prediction of a word is made: each layer read through the model's own head."""

from headscope.study import Dimension, Kind, Number, Study

BY_SPACE = ("lens", "space")
BY_CLASS = (*BY_SPACE, "word_class")
DIN = "Din et al. 2024, section 4"
GAIN = "share of right predictions of the last layer minus that of the most frequent piece"
DIVERGENCE = "Kullback-Leibler divergence of the last layer's distribution over pieces from that of the layer"
HEADS, LAYERS = ("layer", "head"), ("layer",)
ELHAGE = "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits"
DIRECT = "to the logit of the right piece"
LEAD = "logit of the first text's answer minus the other's,"
BACK = "share of the difference of leads that comes back with"
WANG = "Wang et al. 2022; Heimersheim and Nanda 2024"
STUDY = Study(
    question="At which layer is the prediction of a word made?",
    source="nostalgebraist 2020; Din et al. 2024, section 3",
    survey="a command of its own, for models that predict words: headscope lens MODEL TEXT",
    example="headscope lens bert-base-uncased wiki.txt --suite agreement --data DATA -o out/lens",
    without=("workers", "engine", "address", "gpus_per_worker"),
    quick=("--predictions", "40", "--map-predictions", "40"),
    required=("final_first",),
    dims={
        "lens": Dimension("how the states of a layer are read: plain, as they are; mapped to those of the last layer"),
        "text_token": Dimension("token of two texts that are compared, with its number from 1"),
        "space": Dimension("hidden states by layer, 0 for the embeddings that enter the first", "whole"),
    },
    attributes={"pair": "object"},
    kinds=(
        Kind(
            34,
            "writer",
            "#a6761d",
            "adds a twentieth or more of the lead of the right word's logit over others",
            "writes",
        ),
    ),
    numbers=(
        Number("right", "predictions of the right piece", "share", BY_SPACE),
        Number("right_change", "share of right predictions minus that of the last layer", "share", BY_SPACE),
        Number("right_most_frequent", "predictions that are the most frequent piece of the other texts", "share"),
        Number("right_gain", GAIN, "share"),
        Number("final_first", "predictions that equal those of the last layer", "share", BY_SPACE, DIN),
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
        Number(
            *("direct_head", f"direct contribution of a head {DIRECT}", "logits", HEADS, ELHAGE),
            definition=f"what a head adds {DIRECT} minus the vocabulary's mean logit, with the divisors of "
            "normalisations held fixed",
        ),
        Number(
            *("direct_feed_forward", f"direct contribution of a feed-forward part {DIRECT}", "logits", LAYERS, ELHAGE),
            definition="the same for a feed-forward part",
        ),
        Number(
            *("direct_embedding", f"direct contribution of the embeddings {DIRECT}", "logits", (), ELHAGE),
            definition="the same for the embeddings",
        ),
        Number(
            *("direct_bias", f"direct contribution of biases {DIRECT}", "logits", (), ELHAGE),
            definition="the same for biases",
        ),
        Number(
            *("direct_logit", "logit of the right piece minus the mean logit", "logits", (), ELHAGE),
            definition="sum of the above: the logit before a soft cap, minus the mean logit",
        ),
        Number(
            *(
                "direct_head_gain",
                "contribution of a head to the right piece, minus that to the texts' pieces",
                "logits",
            ),
            *(HEADS, ELHAGE),
            definition="`direct_head` minus the mean over the texts' pieces, each as often as it is right",
        ),
        Number(
            *("direct_logit_gain", "logit of the right piece minus that of the texts' pieces", "logits", (), ELHAGE),
            definition="the same for all parts together",
        ),
        Number("write_length", "length of what a head writes", "L2 norm", HEADS, ELHAGE),
        Number("text_lead", f"{LEAD} after the first", "logits"),
        Number(
            "against_lead", f"{LEAD} after the second", "logits", definition="the same difference after the second text"
        ),
        Number(
            *("restored_by_state", f"{BACK} the state of the first text that enters a layer, at a token", "share"),
            *(("layer", "text_token"), "Meng et al. 2022, section 2"),
        ),
        Number(
            *(
                "restored_by_head",
                f"{BACK} the output of a head in the first text, at all tokens",
                "share",
                HEADS,
                WANG,
            ),
            definition="the same with the output of a head in the first text, at all tokens",
        ),
        Number(
            *("restored_by_last", f"{BACK} the output of a head in the first text, where it predicts", "share"),
            *(HEADS, WANG),
            definition="the same with the output of a head at the token that predicts",
        ),
    ),
)
