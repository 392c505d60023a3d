"""The Trainer of transformers without output, with batches of similar length; it keeps the loss of each step.

It stops at the first loss that is not finite. A callback records the outputs after each epoch and writes checkpoints.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.storage.files import remove, writing
from headscope.training.dataset import LengthGrouped, TrainingInputs
from headscope.training.recipe import TrainingRecipe, set_rates
from headscope.training.recorders import RECORDING, saved_bytes
from headscope.training.run_record import RunRecord

# Equal parts of a training over which the loss is averaged.
PARTS = 50


class SilentTrainer(Trainer):
    """A Trainer for `TrainingInputs` that keeps the loss of each step in `state.log_history`."""

    def __init__(
        self,
        network: PreTrainedModel,
        arguments: TrainingArguments,
        training_set: TrainingInputs,
        pad: int,
        rates: Mapping[int, float] = MappingProxyType({}),
    ):
        """`pad` is the id of the padding token; `rates`: see `layer_rates`."""
        super().__init__(network, arguments, train_dataset=training_set)  # type: ignore[arg-type]
        self.remove_callback(PrinterCallback)
        self.network, self.training_set, self.pad = network, training_set, pad
        self.rates, self.began = rates, False

    def get_train_dataloader(self) -> DataLoader:
        """Batches of similar length, each padded to its longest input."""
        lengths = [len(encoded) for encoded in self.training_set.inputs]
        loader = DataLoader(
            self.training_set,  # type: ignore[arg-type]
            batch_sampler=LengthGrouped(lengths, self.args.per_device_train_batch_size, self.args.seed),
            collate_fn=partial(self.training_set.collate, pad=self.pad),
        )
        return self.accelerator.prepare(loader)

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """The optimiser of the recipe, with the rates of the layers."""
        optimizer = super().create_optimizer(model)
        if self.rates:
            set_rates(optimizer, self.rates)
        return optimizer

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> Any:
        """The loss of a batch."""
        return self.training_set.loss(model, inputs)

    def training_step(self, *args: Any, **keywords: Any) -> Tensor:
        """Do one step and keep its loss. Raises `HeadscopeError` if the loss is not finite."""
        self.began, first = True, self.state.global_step == 0
        with saved_bytes(self.network) if first else nullcontext(lambda: 0) as kept:
            loss = super().training_step(*args, **keywords)
        value, step = loss.item(), self.state.global_step + 1
        if not torch.isfinite(loss):
            mixed = " or use --precision no" if self.args.bf16 or self.args.fp16 else ""
            raise HeadscopeError(f"the loss is {value} at step {step}; lower --learning-rate{mixed}")
        self.state.log_history.append({"step": step, "loss": value} | ({"bytes": float(kept())} if first else {}))
        return loss

    def _save_checkpoint(self, *args: Any, **keywords: Any) -> None:
        folder = Path(str(self.args.output_dir))
        try:
            with writing(folder, resumable=True):
                super()._save_checkpoint(*args, **keywords)
        except BaseException:
            remove(folder / f"checkpoint-{self.state.global_step}")
            raise


def arguments(recipe: TrainingRecipe, seed: int, folder: Path, device: torch.device) -> TrainingArguments:
    """The recipe as arguments of the Trainer, without any reporting.

    Raises `HeadscopeError` if the device, or the precision on it, cannot be used for training, or without accelerate.
    """
    require("accelerate")
    if device.type == "cpu" and recipe.precision == "fp16":
        raise HeadscopeError("precision 'fp16' needs a GPU; use bf16 or no")
    if device.index:
        remedy = f"set CUDA_VISIBLE_DEVICES={device.index} instead"
        raise HeadscopeError(f"device '{device}': training uses the first GPU; {remedy}")
    training = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=recipe.batch,
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        warmup_steps=recipe.warmup,
        weight_decay=recipe.weight_decay,
        bf16=recipe.precision == "bf16",
        fp16=recipe.precision == "fp16",
        use_cpu=device.type == "cpu",
        seed=seed,
        save_strategy="no",
        logging_strategy="no",
        eval_strategy="no",
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to=[],
        log_level="error",
        dataloader_pin_memory=False,
    )
    training._n_gpu = min(training.n_gpu, 1)  # several GPUs would each get a batch of this size
    return training


def loss_curve(losses: Float[np.ndarray, " step"]) -> Float[np.ndarray, " part"]:
    """Mean loss of each of `PARTS` equal parts of a training; with fewer steps than parts, steps are repeated.

    >>> loss_curve(np.array([3.0, 1.0]))[[0, 24, 25, 49]]
    array([3., 3., 1., 1.])
    """
    if not len(losses):
        return np.full(PARTS, np.nan)
    starts = np.arange(PARTS) * len(losses) // PARTS
    stops = np.maximum(starts + 1, (np.arange(PARTS) + 1) * len(losses) // PARTS)
    return np.array([losses[start:stop].mean(dtype=np.float64) for start, stop in zip(starts, stops, strict=True)])


# Least time between two checkpoints, for each second that the digest of one takes: less than 1% of a run.
CHECKPOINT_SECONDS = 120.0
DevOutputs = Callable[[], Float[np.ndarray, "example output"]]


class EpochRecorder(TrainerCallback):
    """Records the dev outputs after each epoch, writes checkpoints, reports progress; stops after the epoch `until`."""

    def __init__(
        self,
        record: RunRecord,
        dev_outputs: DevOutputs,
        epoch_done: Callable[[int], None],
        progress: Callable[[int], None],
        until: int | None = None,
    ):
        self.until = until
        self.record, self.dev_outputs, self.epoch_done, self.progress = record, dev_outputs, epoch_done, progress
        self.began = self.saved = time.monotonic()
        self.cost = 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count the steps of the checkpoint as done."""
        self.progress(state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Look at the clock."""
        self.began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint when it is time; at the end of an epoch this waits for the epoch's outputs."""
        entry = state.log_history[-1]
        entry["seconds"] = time.monotonic() - self.began - entry.get(RECORDING, 0.0)
        self.progress(1)
        control.should_save = self._is_time() and state.global_step % _steps(state) != 0

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Record the dev outputs of the epoch. Raises `HeadscopeError` if one is not finite: the weights are spoilt."""
        epoch, outputs = state.global_step // _steps(state), self.dev_outputs()
        if not np.isfinite(outputs).all():
            raise HeadscopeError(f"outputs after epoch {epoch} are not finite; lower --learning-rate")
        self.record.save_outputs(epoch, outputs)
        self.epoch_done(epoch)
        control.should_training_stop = epoch == self.until
        control.should_save = (self._is_time() or epoch == self.until) and state.global_step < state.max_steps

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move the complete checkpoint to its place."""
        started = time.monotonic()
        self.record.keep_checkpoint(state.global_step)
        self.saved = time.monotonic()
        self.cost = self.saved - started

    def _is_time(self) -> bool:
        return time.monotonic() - self.saved >= CHECKPOINT_SECONDS * max(1.0, self.cost)


def _steps(state: Any) -> int:
    """Steps of one epoch."""
    return state.max_steps // state.num_train_epochs
