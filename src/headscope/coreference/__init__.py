"""Coreference: which heads pick the antecedent of a mention, scored against simple baselines."""

from headscope.coreference.answers import Answers, joined
from headscope.coreference.reader import Reader
from headscope.coreference.scores import Chosen, Score, chosen, score
from headscope.coreference.segments import Context, Plan, plan

__all__ = ["Answers", "Chosen", "Context", "Plan", "Reader", "Score", "chosen", "joined", "plan", "score"]
