"""Attention of each token to itself, by head.

Copy this folder to a name of your own: the command `headscope NAME`, its line in `headscope list` and in the docs, its
report and its contract tests follow. The first line of this docstring is what they show. `STUDY` declares the rest;
what a field of it means is said in `headscope.study`.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Cost, InSurvey, Study

STUDY = Study(
    question="Which heads look at the token itself?",
    source="Clark et al. 2019, section 3.1",
    attention=True,
    survey=InSurvey("text", Cost(1, 0.03)),
    required=("template",),
    measures=("_template", "entropy"),
    numbers=COVERAGE,
)
