"""Contacts: how well attention predicts which residues of a protein touch, by head and by a regression over heads.

Rao et al. 2021, sections 3.2 and 4; pairs of words that are linked, or a word and its syntactic head, are read too.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Dimension, Number, Study

HEADS, TOP, SHARE = ("layer", "head", "top"), ("top",), "share of pairs"
PRECISION = (
    "share of contacts among the pairs with the highest scores, mean over sequences: attention between two words in "
    "both directions, minus the product of the mean attention of both over the mean of all (APC); pairs with the same "
    "score share their place"
)
REGRESSION = (
    "precision of a logistic regression (L1, C = 0.15) over all heads, each divided by its standard deviation; "
    "fitted to other sequences in five folds, with 20 pairs drawn for each contact"
)
DISTANCE = "precision where the score of a pair is how often pairs at its distance are contacts in the other sequences"
STUDY = Study(
    question="Which heads tell which residues touch?",
    source="Rao et al. 2021",
    survey="pairs that touch: headscope contacts MODEL SEQUENCES --contacts PAIRS",
    example="headscope contacts my-model proteins.fasta --contacts contacts.tsv -o out/contacts",
    required=("regression_over_random",),
    quick=("--apart", "1"),
    dims={"top": Dimension("pairs that are predicted in a sequence of L letters: L/5, L/2, L")},
    numbers=(
        *COVERAGE,
        Number("precision", "precision of a head as a predictor of contacts", SHARE, HEADS, "", PRECISION),
        Number("regression", "precision of a regression over all heads", SHARE, TOP, "", REGRESSION),
        Number("chosen_precision", "precision of the head that is best on other sequences", SHARE, TOP),
        Number("by_distance", "precision of the distance alone", SHARE, TOP, "", DISTANCE),
        Number("regression_random", "precision of a regression over heads of random weights", SHARE, TOP),
        Number("contact_share", "contacts among all pairs, which is chance", SHARE),
        Number("regression_over_distance", "precision of the regression minus that of the distance", SHARE, TOP),
        Number("regression_over_random", "precision of the regression minus that of random weights", SHARE, TOP),
        Number("chosen_over_distance", "precision of the chosen head minus that of the distance", SHARE, TOP),
    ),
)
