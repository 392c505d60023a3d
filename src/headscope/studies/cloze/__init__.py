"""Which sentences, words and facts does a model prefer? Minimal pairs and gaps, by phenomenon.

The model's own predictions of masked or next words score each text; no classifier is trained.
"""
