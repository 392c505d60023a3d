"""transformers' Trainer, silent, with batches of similar length, and stopped at the first loss that is no number."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from headscope.errors import HeadscopeError
from headscope.training.disk import writing
from headscope.training.journal import Journal
from headscope.training.labelled import Labelled, LengthGrouped, collate
from headscope.training.recipe import Recipe

CHECKPOINT_SECONDS = 120.0
Answer = Callable[[PreTrainedModel], Float[np.ndarray, "example output"]]


class SilentTrainer(Trainer):
    """A Trainer that trains on `Labelled` examples and keeps the loss of each step in `state.log_history`."""

    def __init__(self, network: PreTrainedModel, arguments: TrainingArguments, labelled: Labelled, pad: int):
        super().__init__(network, arguments, train_dataset=labelled)  # type: ignore[arg-type]
        self.remove_callback(PrinterCallback)
        self.labelled, self.pad = labelled, pad

    def get_train_dataloader(self) -> DataLoader:
        """Batches of similar length, padded to the longest of each."""
        lengths = [len(encoded) for encoded in self.labelled.inputs]
        loader = DataLoader(
            self.labelled,  # type: ignore[arg-type]
            batch_sampler=LengthGrouped(lengths, self.args.per_device_train_batch_size, self.args.seed),
            collate_fn=partial(collate, pad=self.pad, regression=self.labelled.regression),
        )
        return self.accelerator.prepare(loader)

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> Any:
        """The network's own loss for its kind of task."""
        return model(**inputs).loss

    def training_step(self, *args: Any, **keywords: Any) -> Tensor:
        """One step; its loss is kept.

        Raises `HeadscopeError` if it is not finite.
        """
        loss = super().training_step(*args, **keywords)
        value, step = loss.item(), self.state.global_step + 1
        if not np.isfinite(value):
            raise HeadscopeError(
                f"the loss is {value} at step {step}; lower --learning-rate"
                + (", or use --precision no" if self.args.bf16 or self.args.fp16 else "")
            )
        self.state.log_history.append({"step": step, "loss": value})
        return loss

    def _save_checkpoint(self, *args: Any, **keywords: Any) -> None:
        with writing(Path(str(self.args.output_dir))):
            super()._save_checkpoint(*args, **keywords)


class Keeper(TrainerCallback):
    """Answers the dev examples after each epoch, writes checkpoints as time goes by, and tells the progress."""

    def __init__(
        self, journal: Journal, answer: Answer, epoch_done: Callable[[int, Any], None], progress: Callable[[int], None]
    ):
        self.journal, self.answer, self.epoch_done, self.progress = journal, answer, epoch_done, progress
        self.saved = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The steps of an interrupted run count as done."""
        self.progress(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """A checkpoint now and then, but the last of an epoch only once the epoch has been answered for."""
        self.progress(1)
        control.should_save = self._is_time() and state.global_step % self._steps(state) != 0

    def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """What the model answers now."""
        epoch = state.global_step // self._steps(state)
        self.journal.answer(epoch, self.answer(model.eval()))
        self.epoch_done(epoch, model)
        control.should_save = self._is_time() and state.global_step < state.max_steps

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The checkpoint is whole."""
        self.journal.checkpointed(state.global_step)
        self.saved = time.monotonic()

    def _is_time(self) -> bool:
        return time.monotonic() - self.saved >= CHECKPOINT_SECONDS

    @staticmethod
    def _steps(state: Any) -> int:
        return state.max_steps // state.num_train_epochs


def arguments(recipe: Recipe, seed: int, folder: Path, device: torch.device) -> TrainingArguments:
    """The recipe as Trainer wants it; nothing is reported anywhere.

    Raises `HeadscopeError` if Trainer cannot use the device, or the device the precision.
    """
    if device.type == "cpu" and recipe.precision == "fp16":
        raise HeadscopeError("precision 'fp16' needs a GPU; use bf16 or no")
    if device.index:
        number = device.index
        raise HeadscopeError(
            f"device '{device}': training uses the first one; set CUDA_VISIBLE_DEVICES={number} instead"
        )
    made = TrainingArguments(
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
    made._n_gpu = min(made.n_gpu, 1)  # several GPUs would each get a batch of this size
    return made
