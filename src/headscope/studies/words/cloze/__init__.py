"""Which sentences, words and facts does a model prefer? Minimal pairs and gaps, by phenomenon.

The model's own predictions of masked or next words score each text; no classifier is trained.
"""

from headscope.study import Study

STUDY = Study(
    question="Which sentences, words and facts does the model prefer?",
    source="",  # of each variable, until its numbers are declared here
    survey="suites of sentences: headscope cloze MODEL SUITE --data FOLDER",
    example="headscope cloze bert-base-uncased blimp --data DATA -o out",
    required=("margin",),
)
