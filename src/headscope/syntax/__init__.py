"""Which heads of a model find the syntactic head of a word: asked word by word, scored against fixed offsets."""

from headscope.syntax.answers import Answers, joined
from headscope.syntax.reader import Reader
from headscope.syntax.scores import Chosen, Score, chosen, halves, score

__all__ = ["Answers", "Chosen", "Reader", "Score", "chosen", "halves", "joined", "score"]
