"""What does fine-tuning add: scores of tasks from pre-trained, random and frozen encoders?

Kovaleva et al. 2019, Table 1: BERT as it is ("pretrained": an untrained classifier on it), from random
weights, and from pre-trained ones; beside them "frozen", where the classifier alone is trained.
"""
