"""Importance of each head by the gradient of the loss: how much the loss would change with the head's output.

Each head's output at each token is multiplied by a gate that is 1. One backward pass gives the derivative of
every example's loss in all of its gates, which is the product of the output with its own gradient, summed over
its numbers. `estimators` makes of these what papers and programs report.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.interventions import Gated
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import refuse_choices
from headscope.encoding.batch import Batch, Values
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.importance_estimators import Cumulative, to_variables
from headscope.outputs.losses import Target, collated, losses
from headscope.outputs.task_inputs import TaskInputs, refuse_other_head, task_inputs
from headscope.outputs.words.few_tokens import within_memory
from headscope.passes.accumulators import Buffer, listed
from headscope.passes.batches import batches
from headscope.passes.coverage import Coverage
from headscope.passes.provenance import of_pass
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import DEFAULTS, Settings
from headscope.passes.shards import Fold, ReadShards
from headscope.statistics.bootstrap import Tally
from headscope.storage.hashes import Fingerprint


def importance(
    model: Model, task: Task, corpus: Corpus, settings: Settings = DEFAULTS, together: int = 1
) -> dict[str, xr.DataArray]:
    """`importance[layer, head, estimator]`, its interval, and `importance_normalised` as the papers do it.

    * `task`: its labels in the order of the model's outputs (`tasks.aligned`); `corpus`: its examples to read, one
      of its splits.
    * `together`: how many neighbouring heads of a layer share a gate, whose derivative is the sum of theirs: they have
      one importance.

    The journal of the settings keeps it once it is whole.

    Raises `HeadscopeError` if a loss is not finite, or the model has the head of another kind of task.
    """
    settings = replace(settings, engine=None, keep_interrupted=False)
    reader = _GradientReader(task_inputs(model, task, corpus, settings.seed), corpus, settings, together)
    (sums,) = read_parts(reader, reader.fold, settings)[0].state
    return to_variables(sums.tallies, sums.cumulative, model.capture.heads)


@dataclass(frozen=True)
class _GradientSums:
    """What importance is computed from; see `to_variables`."""

    tallies: dict[str, Tally]
    cumulative: Cumulative


@dataclass(frozen=True)
class _GradientReader:
    """Reads the sums of all inputs as one part."""

    inputs: TaskInputs
    corpus: Corpus
    settings: Settings
    together: int = 1

    @property
    def fold(self) -> Fold[list[_GradientSums]]:
        return listed(_GradientSums, self._refuse_damaged)

    def fingerprint(self) -> Fingerprint:
        read = of_pass(self.inputs.model, self.corpus, self.settings)
        return read | {"task": repr((self.inputs.task.kind, self.inputs.task.labels)), "together": self.together}

    def parts(self, done: ReadShards[list[_GradientSums]]) -> Generator[ReadShards[list[_GradientSums]]]:
        if done.shards:
            self.settings.on_progress(done.coverage.inputs)
        else:
            yield ReadShards([self._read()], 1, Coverage(len(self.inputs.inputs)))

    def unfinished(self) -> None:
        """Nothing."""

    def _read(self) -> _GradientSums:
        targets = self.inputs.masked_pieces or self.inputs.task.targets(self.corpus).tolist()
        buffer, cumulative = Buffer(self.settings.seed, self.settings.resamples), Cumulative()
        settings = within_memory(self.settings, self.inputs)
        for batch, gradients in gate_gradients(self.inputs, targets, settings):
            shared = gradients.unflatten(-1, (-1, self.together)).sum(-1)
            gradients = shared.repeat_interleave(self.together, -1)
            signed, absolute = gradients.sum(1), gradients.abs().sum(1)
            valid = torch.ones(len(signed), dtype=torch.bool, device=signed.device)
            sums = {"size": signed.abs(), "absolute": absolute, "signed": signed, "tokens": batch.lengths[:, None]}
            buffer.add(batch.unit, {name: Values(values, valid) for name, values in sums.items()})
            cumulative.add(batch.index.tolist(), signed.cpu().numpy().astype(np.float64))
            self.settings.on_progress(len(signed))
        return _GradientSums(buffer.flush(), cumulative)

    def _refuse_damaged(self, done: list[_GradientSums]) -> None:
        """Raise `ValueError` for sums of other names or sizes: a journal may be forged."""
        heads, resamples = sum(self.inputs.model.capture.heads), self.settings.resamples
        sizes = {"size": heads, "absolute": heads, "signed": heads, "tokens": 1}
        for sums in done:
            shapes = {name: tally.resampled_total.shape for name, tally in sums.tallies.items()}
            if shapes != {name: (resamples, size) for name, size in sizes.items()}:
                raise ValueError("does not fit")
            if np.shape(sums.cumulative.total) != (heads,):
                raise ValueError("does not fit")


def gate_gradients(
    inputs: TaskInputs, targets: Sequence[Target], settings: Settings = DEFAULTS
) -> Iterator[tuple[Batch, Float[Tensor, "example token head"]]]:
    """Each batch, and the derivative of each example's loss in the gate of each head at each of its tokens.

    Heads of all layers stand in a row; padding has 0.

    Raises `HeadscopeError` if a loss is not finite, or the model has the head of another kind of task.
    """
    model, gates = inputs.model, list[Tensor]()
    refuse_choices(inputs.task)
    with frozen(model.network), model.intervened(Gated(gates)):
        for batch in batches(model, inputs.inputs, settings):
            shape, dtype = batch.real.shape, torch.promote_types(model.network.dtype, torch.float32)
            gates[:] = [
                torch.ones(*shape, heads, dtype=dtype, device=model.device, requires_grad=True)
                for heads in model.capture.heads
            ]
            logits = model.network(**batch.inputs).logits
            refuse_other_head(logits, inputs.task.kind, model.name)
            chosen = collated([targets[index] for index in batch.index.tolist()], model.device)
            loss = losses(inputs.task.kind, logits, chosen)
            refuse_infinite(loss, batch, model)
            gradients = torch.cat(torch.autograd.grad(loss.sum(), gates), dim=-1)
            yield batch, gradients * batch.real[..., None]


@contextmanager
def frozen(network: nn.Module) -> Iterator[None]:
    """Within this context no gradient is computed for the weights, which takes a third of a backward pass."""
    wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
    try:
        network.requires_grad_(False)
        yield
    finally:
        for parameter in wanted:
            if not parameter.is_inference():  # as that of a weight on disk is once it was used without gradients
                parameter.requires_grad_(True)


def refuse_infinite(loss: Float[Tensor, " example"], batch: Batch, model: Model) -> None:
    """Raise `HeadscopeError` for the first example whose loss is not a finite number."""
    if not torch.isfinite(loss).all():
        example = int((~torch.isfinite(loss)).nonzero()[0])
        raise HeadscopeError(
            f"model '{model.name}': the loss of example {int(batch.index[example]) + 1} is {loss[example].item()}; "
            "use --dtype float32, or another model"
        )
