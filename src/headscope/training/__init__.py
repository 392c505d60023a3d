"""Training: fine-tune a model on a task."""

from headscope.training.initial import Initial, initial
from headscope.training.journal import Journal, Trained
from headscope.training.labelled import Labelled
from headscope.training.loop import Examples, train
from headscope.training.recipe import Init, Recipe

__all__ = ["Examples", "Init", "Initial", "Journal", "Labelled", "Recipe", "Trained", "initial", "train"]
