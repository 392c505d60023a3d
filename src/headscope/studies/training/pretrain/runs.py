"""The trainings: each way with each seed, from random weights, kept one by one."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM, BertLMHeadModel, PreTrainedTokenizerBase

from headscope.models import wrap
from headscope.models.step_folder import STEPS
from headscope.passes import Settings
from headscope.studies.training.pretrain.labels import add_label_embeddings
from headscope.studies.training.pretrain.pairs import add_pair_heads, without_pair_heads
from headscope.studies.training.pretrain.plan import PlannedModel
from headscope.studies.training.pretrain.stacking import Stacking
from headscope.studies.training.pretrain.stages import objectives_of, training_set
from headscope.studies.training.pretrain.text import LabText
from headscope.studies.training.pretrain.ways import PretrainingWay
from headscope.training.beginning import RunEnvironment
from headscope.training.course import CourseRecorder, attention_numbers
from headscope.training.dataset import DEVLIN
from headscope.training.initialisation import InitialModel, as_it_is, set_for_training
from headscope.training.loop import Epochs, MaskedExamples, dev_outputs, train
from headscope.training.piece_frequencies import set_output_bias
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord, TrainedOutputs
from headscope.training.steps import LOG, StepKeeper, spaced

# Held-out inputs on which heads are read at each step.
READ = 64


@dataclass(frozen=True)
class PretrainingRun:
    """A planned model and a seed: of the weights, of masks, and of the order of the inputs.

    * `text`: what it is trained and judged on; `text_settings`: what it depends on.
    * `directory`: of all runs and models; `judged_by`: the seed of the masks of held-out inputs, the first of all.
    * `keep_steps`: which steps are kept of the first seed.
    """

    planned: PlannedModel
    seed: int
    recipe: TrainingRecipe
    text: LabText
    text_settings: dict[str, Any]
    directory: Path
    judged_by: int = 0
    keep_steps: str | None = None

    @property
    def name(self) -> str:
        """The name of its planned model in folders."""
        return self.planned.label.replace(" ", "-")

    @property
    def is_kept(self) -> bool:
        """Whether its steps are kept: not those of a model whose layers become more."""
        return self.keep_steps is not None and self.seed == self.judged_by and not self.planned.stacked

    @property
    def record(self) -> RunRecord:
        """The folder of the run."""
        return RunRecord(self.directory / "runs" / f"{self.name}-{self.seed}")

    @property
    def objectives(self) -> list[PretrainingWay]:
        """What each objective of the way changes, in the order of its stages."""
        return objectives_of(self.planned.way)

    @property
    def way(self) -> PretrainingWay:
        """What the last objective changes, by whose masks the model is judged."""
        return self.objectives[-1]

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer of the text, with the mask of the way."""
        return self.way.tokenizer(self.text.tokenizer)

    @property
    def steps(self) -> int:
        """Number of training steps."""
        return self.recipe.epochs * -(-len(self.text.epoch) // self.recipe.batch)

    def prepare(self) -> None:
        """Nothing is read later."""

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine the numbers of the run."""
        return (
            {"tokenizer": self.text.digest, "way": self.planned.way, "seed": self.seed}
            | {"shape": str(self.planned.shape), "share": self.planned.share, "masked": self.planned.masked}
            | {"judged_by": self.judged_by}
            | ({"stacked": True} if self.planned.stacked else {})
            | ({"keep_steps": self.keep_steps} if self.is_kept else {})
            | self.text_settings
            | self.recipe.as_settings()
        )

    def result(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        """The outputs of the open run for the held-out inputs; it is done unless it was completed before."""
        trained = self.record.completed() or self._run(environment, replace(settings, seed=self.seed))
        self.record.move_model(self.directory / "models" / self.record.folder.name)
        return trained

    @cached_property
    def examples(self) -> MaskedExamples:
        """The inputs of the way, and those that it is judged by."""
        masking = replace(DEVLIN, share=self.planned.masked)
        inputs = (self.text.epoch, self.text.tokenizer, masking, self.seed, self.recipe.epochs)
        mine = training_set(self.planned.way, *inputs)
        return MaskedExamples(mine, *self.text.judged(self.judged_by, self.way))

    def start(self) -> InitialModel:
        """The model before the training: the same weights in each way with the same seed."""
        tokenizer, shape = self.tokenizer, self.planned.shape
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=shape.width, num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads, intermediate_size=4 * shape.width,
            max_position_embeddings=self.recipe.max_tokens, pad_token_id=int(str(tokenizer.pad_token_id)),
            is_decoder=self.way.causal, use_cache=False,
        )  # fmt: skip
        pairs = [way.seconds for way in self.objectives if way.seconds]
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = (BertLMHeadModel if self.way.causal else BertForMaskedLM)(config)
            add_pair_heads(network, pairs)
            if any(way.labels for way in self.objectives):
                add_label_embeddings(network, self.text.labels)
        set_output_bias(network, self.text.frequencies)
        return InitialModel(network, tokenizer, ordinary=without_pair_heads if pairs else as_it_is)

    def _run(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        start, examples = self.start(), self.examples
        set_for_training(start.network, 0.0, environment.device)
        nn.Module.to(start.network, environment.device)
        model = wrap(start.network, start.tokenizer)
        stacking = [Stacking(start.network, self.steps)] if self.planned.stacked else []
        attention = stacking[0].attention_numbers if stacking else attention_numbers

        def numbers() -> dict[str, Any]:
            outputs = dev_outputs(start.model, examples.outputs, settings)
            return {"outputs": outputs.sum(0).tolist()} | attention(
                model, self.text.held_out(self.way)[:READ], settings
            )

        callbacks = [*stacking, CourseRecorder(self.record, spaced(LOG, self.steps), numbers)]
        if self.is_kept:
            steps = spaced(str(self.keep_steps), self.steps)
            callbacks.append(StepKeeper(self.directory / STEPS / self.name, model, steps, start.ordinary))
        return train(start, examples, self.recipe, settings, self.record, epochs=Epochs(callbacks=callbacks))
