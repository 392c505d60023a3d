"""The special tokens that stand before the words of a sentence in its attention."""

from headscope.results.vocabulary import TOKEN_CLASSES

ROLES = tuple(TOKEN_CLASSES.index(name) for name in ("cls", "sep"))
# Attention from and to [CLS] and [SEP] stands before that of words.
SPECIAL = len(ROLES)
