"""Fine-tune an encoder on a task and score it, from pre-trained, random or frozen weights.

Kovaleva et al. 2019, Table 1: an untrained classifier on BERT ("pretrained"), BERT trained from random weights, and
BERT fine-tuned. Beside them "frozen": only the classifier is trained.
"""
