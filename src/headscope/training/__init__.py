"""Training: fine-tune a model on a task."""

from headscope.training.initial import Initial, initial
from headscope.training.journal import Journal, Trained
from headscope.training.recipe import Init, Recipe
from headscope.training.train import dev_inputs, labelled_inputs, train

__all__ = ["Init", "Initial", "Journal", "Recipe", "Trained", "dev_inputs", "initial", "labelled_inputs", "train"]
