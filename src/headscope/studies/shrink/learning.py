"""How the smaller models of a run are trained: on what the whole model answers to the texts of the search."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from headscope.corpora import Corpus
from headscope.models import Model
from headscope.studies.shrink.distillation import DistillationSet, DistilledExamples, distilled
from headscope.studies.shrink.expected_price import ExpectedPrice
from headscope.studies.shrink.gate_choice import TrainedGates
from headscope.studies.shrink.gate_training import trained_gates
from headscope.studies.shrink.gates import gate_shapes
from headscope.studies.shrink.judging import Judging
from headscope.studies.shrink.losses import LossWeights
from headscope.studies.shrink.sizes import AnySize, Original
from headscope.studies.shrink.splits import encode
from headscope.training.recipe import TrainingRecipe


@dataclass(frozen=True)
class Learning:
    """What models learn from, and where their checkpoints are.

    * `measured`: the whole model; `folder`: of the run.
    * `gate_epochs`: epochs of gates; those of smaller models are in `recipe`.
    """

    judging: Judging
    measured: Original
    weights: LossWeights
    corpus: Corpus
    recipe: TrainingRecipe
    gate_epochs: int
    folder: Path

    def rest(self, smaller: Model, size: AnySize, pieces: tuple[int, ...] | None) -> Model:
        """The smaller model after its training.

        * `pieces`: ids of those that it keeps.
        """
        examples, settings = self._examples(smaller, size.layers, pieces), self.judging.settings
        return distilled(smaller, examples, self.corpus, self.recipe, settings, self.folder / "training")

    def gates(self, price: ExpectedPrice, least: float) -> TrainedGates:
        """The whole model, trained with gates."""
        examples, recipe = self._examples(self.judging.model, (), None), replace(self.recipe, epochs=self.gate_epochs)
        shapes, own, settings = gate_shapes(self.measured), self.folder / "gates", self.judging.settings
        return trained_gates(examples, shapes, self.corpus, recipe, settings, own, price, least)

    def _examples(self, smaller: Model, layers: tuple[int, ...], pieces: tuple[int, ...] | None) -> DistilledExamples:
        """What a model learns from, in its own pieces."""
        answers, texts, teacher = self.judging.answers, self.judging.texts, self.measured.model
        numbering = torch.tensor(pieces or range(teacher.network.config.get_text_config().vocab_size))
        labels = answers.task.targets(texts.training) if answers.task and self.weights.labels else None
        inputs = encode(smaller, texts.training)
        learned = DistillationSet(inputs, teacher, answers, numbering, layers, self.weights, labels)
        outputs = answers.of(teacher, self.judging.stopping, self.judging.settings)
        return DistilledExamples(learned, encode(smaller, texts.stopping), outputs)
