"""The ONNX files of eight bits of the steps of a search: their options, their change and their size.

A file is written once for a step that is taken, and kept until the result is complete: held-out texts are scored by it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.eight_bits import TO_STATES, EightBits, nodes_by_part, quantised
from headscope.models.onnx import export
from headscope.outputs.onnx_outputs import session_of
from headscope.passes.settings import Settings
from headscope.storage.files import remove, replace_folder
from headscope.studies.shrink.answers import ModelAnswers, Outputs, change
from headscope.studies.shrink.eight_bit import EIGHT, WHOLE, eight_bit_model, file_megabytes
from headscope.studies.shrink.expected_file import gone_megabytes, weights_megabytes
from headscope.studies.shrink.sizes import AnySize, Original
from headscope.studies.shrink.steps import EIGHT_BITS, InEightBits, Step


@dataclass(frozen=True)
class StepFiles:
    """Files of eight bits of the model's sizes, with all pieces and positions.

    * `inputs`, `before`: texts of the search, and the outputs of the whole model for them.
    * `folder`: where they are kept; `fixed`: megabytes in float32 that go in any case, see `gone_megabytes`.
    """

    original: Original
    answers: ModelAnswers
    inputs: Sequence[Encoded]
    before: Outputs
    folder: Path
    fixed: float
    settings: Settings

    def begun(self, last: Step) -> Step:
        """The step from float32 to eight bits, by the options that `eight_bit_model` finds best."""
        return self._measured(replace(last, part=EIGHT_BITS), self._chosen(last.size), last.change)

    def measured(self, step: Step) -> Step:
        """A step whose change and megabytes are those of its file, no longer those that were expected."""
        known = step.eight_bit
        return self._measured(step, known.options, step.change - known.added) if known else step

    def expected(self, now: Model, last: AnySize, size: AnySize, known: InEightBits) -> float:
        """The megabytes that the file of a size will have: of its weights, and for each layer as much rest as before.

        * `now`: a model that has the layers of `last` and otherwise this size; `known`: of `last`.
        """
        weights = weights_megabytes(now, last, size, known.options) - self._gone(size, known.options)
        return weights + known.rest * len(size.layers) / len(last.layers)

    def alone(self, options: EightBits) -> float:
        """The change of the outputs by eight bits alone, in the whole model."""
        return change(self.before, self.outputs(self.original.start, options, self.inputs))

    def outputs(self, size: AnySize, options: EightBits, inputs: Sequence[Encoded]) -> Outputs:
        """The outputs of the file of a size, for inputs of the whole model."""
        session = session_of(self._file(size, options))
        return self.answers.of_file(session, self.original.model, inputs, self.settings)

    def _measured(self, step: Step, options: EightBits, in_float: float) -> Step:
        """The step as its file is.

        * `in_float`: the change of the same model in float32.
        """
        size = step.size
        moved = change(self.before, self.outputs(size, options, self.inputs))
        weighs = file_megabytes(self._file(size, options)) - self._gone(size, options)
        weights = weights_megabytes(self.original.cut(size), size, size, options) - self._gone(size, options)
        known = InEightBits(options, moved - in_float, weighs - weights)
        return replace(step, change=moved, megabytes=weighs, eight_bit=known)

    def _chosen(self, size: AnySize) -> EightBits:
        """Write the file of a size by the options that are found best; their layers are named as in the whole model.

        A map from narrower embeddings that the model does not have yet is to stay in float32: it has few weights, and
        all states are made by it.
        """
        made = eight_bit_model(self._model(size), self.answers, self.inputs, self._scratch, self.settings)
        later = () if any(TO_STATES in trial.options.kept for trial in made.trials) else (TO_STATES,)
        names = {f"layer {number}": f"layer {layer + 1}" for number, layer in enumerate(size.layers, 1)}
        kept = tuple(names.get(part, part) for part in made.chosen.options.kept)
        options = replace(made.chosen.options, kept=kept + later)
        self._keep(self._path(size, options))
        return options

    def _gone(self, size: AnySize, options: EightBits) -> float:
        return gone_megabytes(self.fixed, self.original.model, size, options)

    def _file(self, size: AnySize, options: EightBits) -> Path:
        """The file of a size, written unless it is there.

        * `options`: with layers as those of the whole model.
        """
        path = self._path(size, options)
        if not path.is_file():
            model = self._model(size)
            source = export(model, self._scratch / WHOLE)
            names = {f"layer {layer + 1}": f"layer {number}" for number, layer in enumerate(size.layers, 1)}
            gone = {f"layer {layer + 1}" for layer in self.original.size.layers} - set(names)
            kept = tuple(names.get(part, part) for part in options.kept if part not in gone)
            quantised(source, self._scratch / EIGHT, replace(options, kept=kept), nodes_by_part(source, model))
            self._keep(path)
        return path

    def _model(self, size: AnySize) -> Model:
        return self.original.written(size).on("cpu")

    @property
    def _scratch(self) -> Path:
        """The folder of what is being written."""
        return self.folder / "new"

    def _path(self, size: AnySize, options: EightBits) -> Path:
        name = hashlib.sha256(json.dumps([size.as_json(), options.words]).encode()).hexdigest()[:16]
        return self.folder / name / EIGHT

    def _keep(self, path: Path) -> None:
        """Move the file of eight bits that was written last to a path; the one in float32 is removed."""
        for whole in self._scratch.glob(f"{WHOLE}*"):
            remove(whole)
        replace_folder(self._scratch, path.parent)
