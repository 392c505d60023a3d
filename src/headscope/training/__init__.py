"""Fine-tuning of a model on a task."""

from headscope.training.dataset import TrainingSet
from headscope.training.initialisation import InitialModel, initial
from headscope.training.loop import TaskExamples, train
from headscope.training.recipe import Init, TrainingRecipe
from headscope.training.run_record import RunRecord, TrainedOutputs

__all__ = [
    "Init",
    "InitialModel",
    "RunRecord",
    "TaskExamples",
    "TrainedOutputs",
    "TrainingRecipe",
    "TrainingSet",
    "initial",
    "train",
]
