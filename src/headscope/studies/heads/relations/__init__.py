"""Relations: which heads link frame elements to their frame, dependents to their heads, or any words that you link.

Kovaleva et al. 2019, section 4.2 (Figure 3) and 4.5; beside it links elsewhere in the sentence, and an untrained model.
"""

from headscope.common_numbers import places, sinks
from headscope.study import Cost, InSurvey, Kind, Number, Study

SHARE, HEADS, RELATIONS = "share of attention", ("layer", "head", "relation", "direction"), ("relation",)
LINK, OTHER_HALF = "attention from one end of a link to the other", "in the chosen head, on the other half"
LARGEST = (
    "mean over sentences of the largest attention between a token of one end of a link and a token of the other, over "
    "all links of the relation"
)
ELSEWHERE = "the same for each link moved to a random other place of its sentence: as far apart, in the same order"
OTHERS = "the same with a random other word in place of one end: at the end where this gives more"
RATE = "false discovery rate at which links get more than links elsewhere and than other words"
TESTS = (
    "false discovery rate of heads said to give links more than both baselines: of the larger p of an exact sign test "
    "and of a t test "
    "over sentences or documents, over all heads, relations and directions"
)
SPECIAL = "whether links gain 0.1 over both baselines, with q < 0.05, in 50 sentences, and beat all untrained heads"
RANDOM = "mean gain of the heads of an untrained model over both baselines"
BY_SEED = "mean over the heads of a model with random weights of the gain of all links over the higher baseline"
STUDY = Study(
    question="Which heads link two words?",
    source="Kovaleva et al. 2019, section 4.2",
    attention=True,
    survey=InSurvey("links", Cost(4, 0.08, 0.1, untrained=True)),
    kinds=(Kind(40, "link", "#117733", "attends to linked words more than to others"),),
    required=("link_attention",),
    attributes={"n_links": "number", "filter": "object"},
    numbers=(
        Number("link_attention", LINK, SHARE, HEADS, definition=LARGEST),
        Number("untrained", f"{LINK} in an untrained model", SHARE, HEADS),
        Number("untrained_gain", RANDOM, SHARE, ("seed",), definition=BY_SEED),
        Number("elsewhere", "attention of links that are moved elsewhere", SHARE, HEADS, definition=ELSEWHERE),
        Number("others", "attention between one end of a link and other words", SHARE, HEADS, definition=OTHERS),
        Number("gain", "attention of links minus that of links elsewhere", SHARE, HEADS),
        Number("gain_others", "attention of links minus that of other words", SHARE, HEADS),
        Number(
            "percentile", "99th percentile of the attention of links over all heads", SHARE, ("relation", "direction")
        ),
        Number("q_value", RATE, "rate", HEADS, definition=TESTS),
        Number("special", SPECIAL, "1 if so", HEADS),
        *places("the head that gains most on one half", *RELATIONS),
        Number("chosen_direction", "direction in which that head gains most", "direction", RELATIONS),
        Number("chosen_attention", f"attention of links {OTHER_HALF}", SHARE, RELATIONS),
        Number("chosen_elsewhere", f"attention of links elsewhere {OTHER_HALF}", SHARE, RELATIONS),
        Number("chosen_others", f"attention between one end of a link and other words {OTHER_HALF}", SHARE, RELATIONS),
        Number("chosen_gain", f"attention of links minus that of links elsewhere {OTHER_HALF}", SHARE, RELATIONS),
        Number("chosen_gain_others", f"attention of links minus that of other words {OTHER_HALF}", SHARE, RELATIONS),
        *sinks(*RELATIONS),
    ),
)
