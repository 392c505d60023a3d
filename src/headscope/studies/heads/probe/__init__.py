"""Probe: how much of a dependency tree all heads know together, read off by parsers that see only attention.

Clark et al. 2019, section 5 (Table 3): parsers whose only inputs are attention, or attention and words, are trained on
a treebank and compared with parsers that see no attention, or that of a model with random weights.
"""

from headscope.study import Cost, Dimension, InSurvey, Number, Study

SHARE, HEADS, BY_SEED = "share of words", ("layer", "head", "direction"), ("probe", "seed")
UAS = "words, without punctuation, that get their syntactic head"
STUDY = Study(
    question="How much syntax do all heads know together?",
    source="Clark et al. 2019, section 5",
    attention=True,
    survey=InSurvey("treebank", Cost(4, 0.05, after=8, untrained=True, cells=4, most=1600)),
    quick=("--train", "sample", "--train-limit", "12", "--epochs", "1", "--seeds", "1"),
    required=("uas_argmax",),
    dims={"probe": Dimension("parser that is scored")},
    attributes={"words_with_vectors": "number"},
    numbers=(
        Number("uas", UAS, SHARE, ("probe",), definition=f"{UAS} in the best tree; roots are among them"),
        Number("uas_argmax", f"{UAS} where each takes its best, tree or not", SHARE, ("probe",)),
        Number(
            *("recall", "words of a relation that get their syntactic head", SHARE, ("probe", "relation")),
            definition="uas of the words of a relation, without subtypes",
        ),
        Number("uas_by_seed", f"{UAS}, by seed", SHARE, BY_SEED),
        Number("epochs", "passes over the training sentences", "epochs", BY_SEED),
        Number("uas_std", "standard deviation of the score over seeds", SHARE, ("probe",)),
        Number(
            *("weight", "weight of a head in the attention-only parser", "logits", HEADS),
            definition="weight of a head (w, u) in the parser that sees attention alone, mean over seeds",
        ),
        Number(
            *("contribution", "by how much a head raises the score of the syntactic head over that of another word"),
            *("logits", HEADS),
            definition="the weight times the extra attention of the syntactic head over the average other word",
        ),
        Number(
            *(
                "relation_contribution",
                "by how much a head raises the score of the syntactic head, by relation",
                "logits",
            ),
            *((*HEADS, "relation"), "Hoover et al. 2020"),
            "contribution, over the words of a relation; for relations of 50 words or more",
        ),
        Number("weight_std", "standard deviation of the weight over seeds", "logits", HEADS),
    ),
)
