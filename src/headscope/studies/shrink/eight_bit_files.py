"""The ONNX files of eight bits of sizes of a model: each is written once, and kept until the result is complete."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.eight_bits import MAPS_TO_STATES, TO_STATES, EightBits, nodes_by_part, quantised
from headscope.models.onnx import export
from headscope.passes.settings import Settings
from headscope.storage.files import remove
from headscope.studies.shrink.answers import ModelAnswers
from headscope.studies.shrink.eight_bit import EIGHT, WHOLE, eight_bit_model
from headscope.studies.shrink.sizes import AnySize, Original


@dataclass(frozen=True)
class EightBitFiles:
    """Files of the sizes of a model with all pieces and positions, in a folder.

    Of all options that are given or returned, layers are named as those of the whole model.
    """

    original: Original
    folder: Path
    answers: ModelAnswers

    def file(self, size: AnySize, options: EightBits) -> Path:
        """The file of a size, written unless it is there."""
        path = self._path(size, options)
        if not path.is_file():
            model, source = self._model(size), self._folder(size) / WHOLE
            if not source.is_file():
                self._remove_exported()
                export(model, source)
            numbers = _layers(size)
            kept = tuple(numbers.get(part, part) for part in self.kept(size, options))
            quantised(source, path, replace(options, kept=kept), nodes_by_part(source, model))
        return path

    def chosen(self, size: AnySize, inputs: Sequence[Encoded], settings: Settings) -> EightBits:
        """Write the file of a size by the options that `eight_bit_model` finds best.

        A map from narrower embeddings that the model does not have yet is to stay in float32: it has few weights, and
        all states are made by it.
        """
        self._remove_exported()
        made = eight_bit_model(self._model(size), self.answers, inputs, self._folder(size), settings)
        later = () if self._has_map(size) else (TO_STATES,)
        names = {number: name for name, number in _layers(size).items()}
        kept = tuple(names.get(part, part) for part in made.chosen.options.kept)
        options = replace(made.chosen.options, kept=kept + later)
        os.replace(self._folder(size) / EIGHT, self._path(size, options))
        return options

    def kept(self, size: AnySize, options: EightBits) -> tuple[str, ...]:
        """The parts in float32 that a size has."""
        gone = {f"layer {layer + 1}" for layer in self.original.size.layers if layer not in size.layers}
        gone |= set() if self._has_map(size) else {TO_STATES}
        return tuple(part for part in options.kept if part not in gone)

    def _has_map(self, size: AnySize) -> bool:
        """Whether a linear map makes states of embeddings: narrower ones, or those that the model has."""
        modules = self.original.model.network.named_modules()
        return bool(size.embeddings) or any(name.rpartition(".")[2] in MAPS_TO_STATES for name, _ in modules)

    def _remove_exported(self) -> None:
        """Remove the last model that was exported in float32."""
        for path in self.folder.glob(f"*/{WHOLE}*"):
            remove(path)

    def _model(self, size: AnySize) -> Model:
        return self.answers.answering(self.original.written(size)).on("cpu")

    def _folder(self, size: AnySize) -> Path:
        return self.folder / _short(asdict(size))

    def _path(self, size: AnySize, options: EightBits) -> Path:
        kept = replace(options, kept=self.kept(size, options))
        return self._folder(size) / f"{_short(kept.words)}.onnx"


def _layers(size: AnySize) -> dict[str, str]:
    """The names of the layers of a size in its own file, by those in the whole model."""
    return {f"layer {layer + 1}": f"layer {number}" for number, layer in enumerate(size.layers, 1)}


def _short(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
