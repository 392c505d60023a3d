"""The trainings: each way with each seed, from random weights, kept one by one."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM, BertLMHeadModel, PreTrainedModel

from headscope.models import wrap
from headscope.passes import Settings
from headscope.studies.training.pretrain.blocks import TextBlock
from headscope.studies.training.pretrain.plan import Shape
from headscope.studies.training.pretrain.text import LabText
from headscope.studies.training.pretrain.ways import WAYS, PretrainingWay, Second
from headscope.training.beginning import RunEnvironment
from headscope.training.course import CourseRecorder, attention_numbers
from headscope.training.dataset import DEVLIN, MaskedTrainingSet
from headscope.training.initialisation import InitialModel, as_it_is, set_for_training
from headscope.training.loop import Epochs, MaskedExamples, dev_outputs, train
from headscope.training.piece_frequencies import set_output_bias
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord, TrainedOutputs
from headscope.training.steps import LOG, spaced

# Held-out inputs on which heads are read at each step.
READ = 64
# The name of what tells whether the second part is the right one.
PAIR_HEAD = "pair_head"


@dataclass
class PairTrainingSet(MaskedTrainingSet):
    """Inputs whose second part may be another one in each epoch, which the state of [CLS] must tell.

    * `blocks`: the text; `second`: what stands in the place of the second part.
    """

    blocks: Sequence[TextBlock] = ()
    second: Second | None = None

    def __getitem__(self, index: int) -> Any:
        """An input, the pieces under its masks, and whether the second part is the right one."""
        assert self.second is not None
        random = np.random.Generator(np.random.Philox(key=[self.seed, index], counter=[0, 0, 1, self.epoch]))
        block, right = self.second(self.blocks, index, random)
        self.inputs[index] = block.encoded(index, self.tokenizer)
        return *super().__getitem__(index), right

    def collate(self, group: list[Any], pad: int) -> dict[str, Tensor]:
        """As of masks, with `right`, [example]."""
        right = torch.tensor([right for *_, right in group]).long()
        return super().collate([(encoded, pieces) for encoded, pieces, _ in group], pad) | {"right": right}

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The loss of masked tokens, and that of telling the second parts (Devlin et al. 2019, section 3.1)."""
        states: list[Tensor] = []
        hook = network.base_model.register_forward_hook(lambda module, inputs, output: states.append(output[0]))
        try:
            loss = super().loss(network, {name: tensor for name, tensor in batch.items() if name != "right"})
        finally:
            hook.remove()
        return loss + cross_entropy(getattr(network, PAIR_HEAD)(states[0][:, 0].float()), batch["right"])


def without_pair_head(network: PreTrainedModel) -> PreTrainedModel:
    """A copy of the network without what tells the second parts."""
    copied = deepcopy(network)
    delattr(copied, PAIR_HEAD)
    return copied


@dataclass(frozen=True)
class PretrainingRun:
    """A way and a seed: of the weights, of masks, and of the order of the inputs.

    * `text`: what all runs are trained and judged on; `text_settings`: what it depends on.
    * `directory`: of all runs and models; `judged_by`: the seed of the masks of held-out inputs.
    """

    name: str
    seed: int
    shape: Shape
    recipe: TrainingRecipe
    text: LabText
    text_settings: dict[str, Any]
    directory: Path
    judged_by: int = 0

    @property
    def record(self) -> RunRecord:
        """The folder of the run."""
        return RunRecord(self.directory / "runs" / f"{self.name}-{self.seed}")

    @property
    def way(self) -> PretrainingWay:
        """What the way changes."""
        return WAYS[self.name]

    @property
    def steps(self) -> int:
        """Number of training steps."""
        return self.recipe.epochs * -(-len(self.text.train) // self.recipe.batch)

    def prepare(self) -> None:
        """Nothing is read later."""

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine the numbers of the run."""
        return (
            {"tokenizer": self.text.digest, "way": self.name, "seed": self.seed, "shape": str(self.shape)}
            | {"judged_by": self.judged_by}
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
        inputs = [block.encoded(index, self.text.tokenizer) for index, block in enumerate(self.text.train)]
        objective: dict[str, Any] = {"choose": self.way.choose, "static": self.way.static, "causal": self.way.causal}
        pairs = {"blocks": self.text.train, "second": self.way.second} if self.way.second else {}
        kind = PairTrainingSet if self.way.second else MaskedTrainingSet
        mine = kind(inputs, self.text.tokenizer, DEVLIN, self.seed, **objective, **pairs)
        return MaskedExamples(mine, *self.text.judged(self.judged_by, causal=self.way.causal))

    def start(self) -> InitialModel:
        """The model before the training: the same weights in each way with the same seed."""
        tokenizer = self.text.tokenizer
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=self.shape.width, num_hidden_layers=self.shape.layers,
            num_attention_heads=self.shape.heads, intermediate_size=4 * self.shape.width,
            max_position_embeddings=self.recipe.max_tokens, pad_token_id=int(str(tokenizer.pad_token_id)),
            is_decoder=self.way.causal, use_cache=False,
        )  # fmt: skip
        ordinary = without_pair_head if self.way.second else as_it_is
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = (BertLMHeadModel if self.way.causal else BertForMaskedLM)(config)
            if self.way.second:
                network.add_module(PAIR_HEAD, nn.Linear(self.shape.width, 2))
        set_output_bias(network, self.text.frequencies)
        return InitialModel(network, tokenizer, ordinary=ordinary)

    def _run(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        start, examples = self.start(), self.examples
        set_for_training(start.network, 0.0, environment.device)
        nn.Module.to(start.network, environment.device)
        model = wrap(start.network, start.tokenizer)

        def numbers() -> dict[str, Any]:
            outputs = dev_outputs(start.model, examples.outputs, settings)
            return {"outputs": outputs.sum(0).tolist()} | attention_numbers(model, self.text.dev[:READ], settings)

        course = CourseRecorder(self.record, spaced(LOG, self.steps), numbers)
        return train(start, examples, self.recipe, settings, self.record, epochs=Epochs(callbacks=[course]))
