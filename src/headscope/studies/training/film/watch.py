"""Watch the heads of a model while transformers' Trainer trains it: its logs and a film say what attention is like."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import xarray as xr
from torch import Tensor
from transformers import PreTrainedModel, TrainerCallback, TrainerState, TrainingArguments

from headscope import results
from headscope.capture.self_check import Capture, check
from headscope.errors import HeadscopeError
from headscope.models.model import without_decoder
from headscope.passes.provenance import versions
from headscope.results.variables import Variables
from headscope.studies.training.film import STUDY, TRAINING
from headscope.training.head_statistics import evaluating, head_statistics
from headscope.version import __version__

By = Literal["model", "layer", "head"]
# How the heads of a layer, or of a model, become one number of the logs.
TOGETHER = {"entropy": np.nanmean, "largest": np.nanmax, "sink": np.nanmean}
# A film is written at the end, at checkpoints, and this often.
SECONDS = 60.0


class Watch(TrainerCallback):
    """A callback for transformers' Trainer: what the attention of each head is like, every few steps.

    Of the batch of such a step it reads, in one forward pass more: the entropy of attention (nats), the largest score
    before the softmax (which QK clipping bounds), the share of the most attended token of a text (a sink), and what
    each tenth of a text receives. Dropout is off, no random number is drawn: the training goes on as without it.

    * `steps`: from one reading to the next; the first is before the first step.
    * `folder`: where the film is written; a folder of results, as of `headscope film`. By default nowhere.
    * `batch`: arguments of the model's forward pass that are read each time, so that steps differ by the model alone;
      by default the next batch of the training.
    * `by`: whether the logs have numbers by "layer", by "head" or of the "model": `attention/entropy/3`,
      `attention/largest/3-10`, `attention/sink`. Of several heads, the mean, of `largest` the largest.

    `result` is the film so far, `seconds` the time that readings took. The logs are `state.log_history`, and those of
    callbacks after it: `attach` puts it before those that report to TensorBoard and the like.

    Raises `HeadscopeError` when training begins if attention cannot be captured exactly, weights are in shards, or
    `folder` holds the film of another training.

    >>> from headscope import Watch
    >>> Watch(steps=50, by="head").steps
    50
    """

    def __init__(
        self,
        steps: int = 100,
        folder: str | Path | None = None,
        *,
        batch: Mapping[str, Any] | None = None,
        by: By = "layer",
    ):
        if steps < 1:
            raise HeadscopeError(f"{steps} steps: use 1 or more")
        if by not in ("model", "layer", "head"):
            raise HeadscopeError(f"by '{by}': use 'model', 'layer' or 'head'")
        self.steps, self.batch = steps, batch
        self.by: By = by
        self.folder = None if folder is None else Path(folder)
        self.readings: dict[int, dict[str, np.ndarray]] = {}
        self.tokens = self.texts = 0
        self.seconds, self._written = 0.0, time.monotonic()
        self._capture: Capture | None = None
        self._new: dict[str, float] = {}
        self._about: dict[str, Any] = {}

    def attach(self, trainer: Any) -> "Watch":
        """Add the callback to a Trainer before all others, so that those that report its logs have the numbers too."""
        trainer.callback_handler.callbacks.insert(0, self)
        return self

    @property
    def result(self) -> xr.Dataset:
        """The film of the readings so far: a result of `film`, for `headscope.save_result` and `plot`.

        Raises `HeadscopeError` if nothing was read yet.
        """
        if not self.readings:
            raise HeadscopeError("nothing was read yet; train with this callback first")
        readings = dict(sorted(self.readings.items()))
        variables = Variables({"step": list(readings)}, STUDY.source, STUDY.labels)
        for name in ("entropy", "largest", "sink", "received"):
            variables.add(f"step_{name}", np.stack([numbers[name] for numbers in readings.values()]))
        attributes = {**self._about, "n_examples": self.texts, "n_tokens": self.tokens}
        return results.check(xr.Dataset(variables.arrays, attrs=attributes))

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: Any, **given: Any) -> None:
        """Check that attention can be captured, and go on with the film of a training that was interrupted."""
        if args.fsdp or args.deepspeed:
            raise HeadscopeError("Watch reads whole weights: train without FSDP and DeepSpeed")
        network = attending(given["model"])
        with evaluating(network):
            self._capture = check(network)
        self._about = _about(network, self._capture, args, TRAINING if self.batch is None else "one batch")
        self._go_on(state.global_step)

    def _go_on(self, step: int) -> None:
        """Take over what the film in the folder has of the steps up to this one, where a training goes on.

        Raises `HeadscopeError` if it is that of another training.
        """
        if self.folder is None or not (self.folder / "result.nc").exists():
            return
        film = results.read(self.folder)
        names = [name for name in film if str(name).removeprefix("step_") in (*TOGETHER, "received")]
        if not step or film.attrs["model"] != self._about["model"] or len(names) <= len(TOGETHER):
            raise HeadscopeError(f"'{self.folder}' has the result of another run; name another folder, or remove it")
        for number in film["step"].values.tolist():
            if number <= step:
                self.readings.setdefault(
                    number, {str(name).removeprefix("step_"): film[name].sel(step=number).values for name in names}
                )
        self.texts, self.tokens = int(film.attrs["n_examples"]), int(film.attrs["n_tokens"])

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: Any, **given: Any) -> None:
        """Read the fixed batch, or the next one when it reaches the model."""
        model, step = given["model"], state.global_step
        if step % self.steps or step in self.readings:
            return
        if self.batch is not None:
            self._read(model, self.batch, step, args)
            return

        def see(_: Any, arguments: tuple, batch: dict[str, Any]) -> None:
            handle.remove()
            self._read(model, batch, step, args)

        handle = model.register_forward_pre_hook(see, with_kwargs=True)

    def on_log(self, args: TrainingArguments, state: TrainerState, control: Any, **given: Any) -> None:
        """Add the numbers of the last reading to the logs of the training, not to those of an evaluation."""
        logs: dict[str, float] = given["logs"]
        if self._new and not any(name.startswith("eval_") for name in logs):
            logs.update(self._new)
            state.log_history[-1].update(self._new)
            self._new = {}

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: Any, **_: Any) -> None:
        """Write the film if that is long ago."""
        if time.monotonic() - self._written > SECONDS:
            self._write(state)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: Any, **_: Any) -> None:
        """Write the film beside a checkpoint."""
        self._write(state)

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: Any, **given: Any) -> None:
        """Read the fixed batch once more, and write the film."""
        if self.batch is not None and state.global_step not in self.readings:
            self._read(given["model"], self.batch, state.global_step, args)
        self._write(state)

    def _read(self, model: Any, batch: Mapping[str, Any], step: int, args: TrainingArguments) -> None:
        began = time.perf_counter()
        if self._capture is None or "input_ids" not in batch:
            raise HeadscopeError(f"a batch has {sorted(batch)}: Watch reads text, whose batches have input_ids")
        network = attending(model)
        here = {name: value.to(network.device) for name, value in batch.items() if isinstance(value, Tensor)}
        dtype = torch.bfloat16 if args.bf16 else torch.float16
        with torch.autocast(network.device.type, dtype, enabled=args.bf16 or args.fp16):
            statistics = head_statistics(network, self._capture, here)
        self.readings[step] = statistics.numbers()
        self.texts += len(statistics.real)
        self.tokens += int(statistics.real.sum())
        self._new = logged(self.readings[step], self.by)
        self.seconds += time.perf_counter() - began

    def _write(self, state: TrainerState) -> None:
        if self.folder is not None and self.readings and state.is_world_process_zero:
            results.save(self.result, self.folder)
        self._written = time.monotonic()


def attending(model: Any) -> PreTrainedModel:
    """The network of a model that attends: without its head and its decoder; of a peft model, what it adapts.

    Raises `HeadscopeError` if the object is not a Trainer of transformers.
    """
    model = model.get_base_model() if hasattr(model, "get_base_model") else model
    if not isinstance(model, PreTrainedModel):
        raise HeadscopeError(f"a {type(model).__name__} is trained; Watch reads models of transformers, and peft's")
    encoder = without_decoder(model)
    return model.base_model if encoder is model else encoder  # type: ignore[return-value]


def logged(numbers: Mapping[str, np.ndarray], by: By) -> dict[str, float]:
    """The numbers of the logs, by name.

    >>> logged({"entropy": np.array([[1.0, 2.0]]), "largest": np.array([[3.0, 9.0]])}, "layer")
    {'attention/entropy/1': 1.5, 'attention/largest/1': 9.0}
    """
    logs: dict[str, float] = {}
    for name, together in TOGETHER.items():
        array = numbers.get(name)
        if array is None or np.isnan(array).all():
            continue
        if by == "model":
            logs[f"attention/{name}"] = float(together(array))
        for layer, heads in enumerate(array, 1):
            if by == "layer":
                logs[f"attention/{name}/{layer}"] = float(together(heads))
            if by == "head":
                known = {head: value for head, value in enumerate(heads, 1) if not np.isnan(value)}
                logs |= {f"attention/{name}/{layer}-{head}": float(value) for head, value in known.items()}
    return logs


def _about(network: PreTrainedModel, capture: Capture, args: TrainingArguments, corpus: str) -> dict[str, Any]:
    """The attributes of the film: what was trained, and by which versions."""
    config: Any = network.config
    return {
        "study": "film",
        "headscope_version": __version__,
        "model": config._name_or_path or config.model_type,
        "model_type": config.model_type,
        "model_sha256": "",
        "capture": capture.method,
        "corpus": corpus,
        "corpus_sha256": "",
        "seed": args.seed,
        "settings": json.dumps({"device": str(network.device), "dtype": str(network.dtype).removeprefix("torch.")}),
        "versions": versions(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
