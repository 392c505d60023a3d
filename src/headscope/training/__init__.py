"""Training: fine-tune a model on a task."""

from headscope.training.dataset import Labelled
from headscope.training.initialisation import Initial, initial
from headscope.training.loop import Examples, train
from headscope.training.recipe import Init, Recipe
from headscope.training.run_record import Journal, Trained

__all__ = ["Examples", "Init", "Initial", "Journal", "Labelled", "Recipe", "Trained", "initial", "train"]
