"""Layers: the knowledge that probing classifiers read from the hidden states of each layer.

Parts of speech, chunks, dependencies, entities, coreference, sentences, numbers: after Tenney et al. 2019, Liu et al.
2019, Conneau et al. 2018, Lin et al. 2019 and Wallace et al. 2019; classifiers of all layers and tasks train together.
"""

from headscope.study import Cost, Dimension, InSurvey, Number, Study

SHARE = "share of cases or of variance, or F1"
HEWITT, VOITA = "Hewitt and Liang 2019, section 3", "Voita and Titov 2020, section 2.2"
TENNEY, WALLACE = "Tenney et al. 2019, section 3", "after Wallace et al. 2019, section 3"
TASK, LAYER, SPACE, PIECES = ("task",), ("task", "layer"), ("task", "space"), ("task", "pieces")
WIEDEMANN = "Wiedemann et al. 2019"
SILHOUETTE = "mean silhouette of the senses of a word, by one minus the cosine"
ELAZAR, REMOVED = "Elazar, Ravfogel et al. 2021", "loss of the right piece with a property removed from the states"
AT_RANDOM = "loss of the right piece with random directions removed minus that before"
RATIO = "uniform code divided by online code"
ERROR, UNIT = "root of the mean squared error of the value of a number", "the number's own"
FROM_MEAN = f"{ERROR} if all have the mean of the training values, by its pieces"
SPLIT = "of the tested cases whose numbers are split into 1, 2, 3, 4 or more pieces (of two numbers together)"
SCORE = (
    "share of cases that a linear classifier of the hidden states has right; for values the share of their variance "
    "around the mean of the training values, below 0 where it is worse than that mean; of sets of labels the "
    "micro-averaged F1"
)
STOPPED = (
    "divergence of the weights of the scalar mix from equal ones where its training stopped: 0 if they are equal, 1.95 "
    "for one of seven spaces alone; it grows with the number of steps"
)
STUDY = Study(
    question="What does each layer know?",
    source="Tenney et al. 2019; Liu et al. 2019; Conneau et al. 2018",
    survey=InSurvey("treebank", Cost(22, 0.2, after=13, untrained=True, cells=40, most=770), several=True),
    example="headscope layers minilm treebank.conllu --tasks part_of_speech,dependency_label,tense -o out/layers",
    quick=("--train", "sample", "--train-limit", "24", "--cases", "60", "--penalties", "10"),
    required=("cumulative_score",),
    dims={"draw": Dimension("draw of random directions", "whole")},
    attributes={"sentences": "object", "tasks": "object"},
    numbers=(
        Number("score", "score of a linear classifier", SHARE, LAYER, definition=SCORE),
        Number("score_embeddings", "score of a linear classifier of the embeddings", SHARE, TASK),
        Number("score_majority", "score of the most frequent answer, or mean", SHARE, TASK),
        Number("choice_score", "score of a linear classifier on cases for choices", SHARE, LAYER),
        Number("penalty", "penalty of the squared weights, chosen on cases for choices", "1", LAYER),
        Number("chosen_layer", "layer with the best score on cases for choices", "layer", TASK),
        Number("training_cases", "training cases", "cases", TASK),
        Number("score_random", "score of a classifier, for a model with random weights, mean over seeds", SHARE, LAYER),
        Number(
            *("score_random_by_seed", "score of a classifier, for a model with random weights", SHARE), ("seed", *LAYER)
        ),
        Number("gain", "gain of the chosen layer over the embeddings", SHARE, TASK),
        Number("p_value", "p-value of the gain over the embeddings (bootstrap, one-sided)", "probability", TASK),
        Number("q_value", "false discovery rate of a gain on the embeddings (Benjamini-Hochberg)", "rate", TASK),
        Number(
            *("last_layer_fall", "score of the chosen layer minus that of the last layer", SHARE, TASK),
            definition="score of the chosen layer minus that of the last one, on the same cases",
        ),
        Number("control", "score on a control task with random answers", SHARE, LAYER, HEWITT),
        Number("selectivity", "score minus that on the control task", SHARE, LAYER, HEWITT),
        Number("code_length", "online code of the training answers", "kilobits", LAYER, VOITA),
        Number("code_uniform", "uniform code of the training answers", "kilobits", TASK, VOITA),
        Number("compression", RATIO, "ratio", LAYER, VOITA),
        Number(
            "compression_embeddings", "uniform code divided by online code, of the embeddings", "ratio", TASK, VOITA
        ),
        Number(
            *("cumulative_score", "score of a mix of the spaces up to this one", SHARE, SPACE, TENNEY),
            definition="score of a mix of the embeddings (space 0) and the layers up to this one",
        ),
        Number("mix_gain", "score of a mix of all spaces minus that of the last layer", SHARE, TASK, TENNEY),
        Number("mix_weight", "weight of a space in the scalar mix of all", "share", SPACE, TENNEY),
        Number(
            *("centre_of_gravity", "centre of gravity of the scalar mix, 0 for the embeddings", "layer", TASK, TENNEY),
            definition="centre of gravity of the scalar mix where training stopped, 0 for the embeddings",
        ),
        Number(
            *("mix_concentration", "divergence of the scalar mix from equal weights where training stopped", "nats"),
            *(TASK, TENNEY),
            definition=STOPPED,
        ),
        Number(
            *("error_by_pieces", f"{ERROR}, by its pieces", UNIT, (*LAYER, "pieces"), WALLACE),
            definition=f"{ERROR}, {SPLIT}",
        ),
        Number("error_by_pieces_embeddings", f"{ERROR} from the embeddings, by its pieces", UNIT, PIECES, WALLACE),
        Number("error_by_pieces_mean", FROM_MEAN, UNIT, PIECES, WALLACE),
        Number("expected_layer", "expected layer, by the gains of cumulative scores", "layer", TASK, TENNEY),
        Number(
            *("gain_concentration", "divergence of the layers' gains from equal ones, losses as 0", "nats"),
            *(TASK, TENNEY),
        ),
        Number(
            *("sense_gain", "nearest training case of the word minus its most frequent training sense", SHARE),
            *(("space",), WIEDEMANN),
            "cases whose nearest training case of the same word has their sense, minus those that have its most "
            "frequent training sense",
        ),
        Number("sense_silhouette", SILHOUETTE, "silhouette", ("space",), "Rousseeuw 1987"),
        Number(
            *("sense_silhouette_random", f"{SILHOUETTE}, with random weights", "silhouette", ("seed", "space")),
            "Rousseeuw 1987",
        ),
        Number("unseen_senses", "tested cases whose senses no training case of the word has", "cases", (), WIEDEMANN),
        Number("word_loss", "loss of the right piece of tested sentences", "nats", (), ELAZAR),
        Number("removal_harm", f"{REMOVED} minus that before", "nats", SPACE, ELAZAR),
        Number(
            *("removal_harm_random", AT_RANDOM, "nats", ("draw", *SPACE), ELAZAR),
            definition="the same with as many random directions removed, those of shuffled answers",
        ),
        Number("removal_rank", "directions of a property that are removed", "directions", SPACE, "Belrose et al. 2023"),
        Number(
            *("removal_score_before", "score of a classifier of half of the tested sentences on the others", SHARE),
            *(SPACE, ELAZAR),
        ),
        Number(
            *("removal_score", "score of a classifier that is trained with the property removed", SHARE, SPACE, ELAZAR),
            definition="the same with the property removed from all states, by what other sentences show of it",
        ),
    ),
)
