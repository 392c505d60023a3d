"""Syntax: which heads point at the syntactic head of a word, relation by relation, compared with the best fixed word.

Clark et al. 2019, section 4.2 (Table 1): a word's head is the word that it attends to most, or that attends to it most.
"""

from headscope.common_numbers import places, sinks
from headscope.study import Cost, InSurvey, Kind, Number, Study

SHARE, HEADS, RELATIONS = "share of words", ("layer", "head", "relation", "direction"), ("relation",)
FROM_ENDS = ": 1 for the first word of a sentence, -1 for the last"
SPECIAL = "whether the head beats the fixed word by 10 points on the other half, with q < 0.05, in 50 words"
ACCURACY = (
    "share of words whose syntactic head gets the most attention between words (to a word the sum over its tokens, "
    "from a word the mean over them, without the diagonal)"
)
GAIN = "accuracy of the chosen head minus that of the chosen fixed word, on the other half"
SPLIT_SOURCE = "Clark et al. 2019, section 4.1"
STUDY = Study(
    question="Which heads point at the syntactic head of a word?",
    source="Clark et al. 2019, section 4.2",
    attention=True,
    survey=InSurvey("treebank", Cost(1, 0.05, 0.1)),
    kinds=(
        Kind(10, "relation", "#cc79a7", "finds a syntactic relation better than a fixed word, by 10 points or more"),
    ),
    required=("baseline_offset",),
    numbers=(
        Number("accuracy", "words whose syntactic head the attention picks", SHARE, HEADS, definition=ACCURACY),
        Number("q_value", "false discovery rate of heads called better than the fixed word", "rate", HEADS),
        Number("special", SPECIAL, "1 if so", HEADS),
        Number("baseline", "words for which the best fixed word is right", SHARE, RELATIONS),
        Number("baseline_offset", "offset of the best fixed word, if it has one", "words", RELATIONS),
        Number("baseline_position", f"position of the best fixed word, if it has one{FROM_ENDS}", "words", RELATIONS),
        *places("the head that is best on one half", "relation"),
        Number("chosen_direction", "direction in which that head is best", "direction", RELATIONS),
        Number("chosen_offset", "offset of the best fixed word on one half, if it has one", "words", RELATIONS),
        Number(
            "chosen_position",
            f"position of the best fixed word on one half, if it has one{FROM_ENDS}",
            *("words", RELATIONS),
        ),
        Number("chosen_accuracy", "words for which the chosen head is right, on the other half", SHARE, RELATIONS),
        Number("chosen_baseline", "words for which the fixed word is right, on the other half", SHARE, RELATIONS),
        Number("chosen_gain", GAIN, SHARE, RELATIONS),
        Number("split_words", "words that the tokenizer splits", SHARE, (), SPLIT_SOURCE),
        *sinks("relation"),
    ),
)
