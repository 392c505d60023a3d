"""Steps of a search in eight bits: what may come next, and the change and the size of their ONNX files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.eight_bits import EightBits
from headscope.outputs.onnx_outputs import session_of
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import Outputs, change
from headscope.studies.shrink.eight_bit import file_megabytes
from headscope.studies.shrink.eight_bit_files import EightBitFiles
from headscope.studies.shrink.expected_file import gone_megabytes, weights_megabytes
from headscope.studies.shrink.sizes import AnySize
from headscope.studies.shrink.steps import EIGHT_BITS, InEightBits, Step


@dataclass(frozen=True)
class StepFiles:
    """How steps in eight bits are measured.

    * `inputs`, `before`: texts of the search, and the outputs of the whole model for them.
    * `fixed`: megabytes in float32 that go in any case, see `gone_megabytes`.
    """

    files: EightBitFiles
    inputs: Sequence[Encoded]
    before: Outputs
    fixed: float
    settings: Settings

    def further(self, last: Step) -> dict[str, AnySize]:
        """Steps that may come next: eight bits, then eight bits of each part that stayed in float32; sizes stay."""
        if last.eight_bit is None:
            return {EIGHT_BITS: last.size}
        kept = self.files.kept(last.size, last.eight_bit.options)
        return {f"{EIGHT_BITS} of {part}": last.size for part in kept}

    def step(self, part: str, last: Step) -> Step:
        """One of the steps of `further`, measured by its file."""
        known = last.eight_bit
        if known is None:
            options = self.files.chosen(last.size, self.inputs, self.settings)
            return self._measured(replace(last, part=part), options, last.change)
        kept = tuple(one for one in known.options.kept if part != f"{EIGHT_BITS} of {one}")
        return self._measured(replace(last, part=part), replace(known.options, kept=kept), last.change - known.added)

    def measured(self, step: Step) -> Step:
        """A step whose change and megabytes are those of its file, no longer those that were expected."""
        known = step.eight_bit
        return self._measured(step, known.options, step.change - known.added) if known else step

    def expected(self, now: Model, last: AnySize, size: AnySize, known: InEightBits) -> float:
        """The megabytes that the file of a size will have: of its weights, and for each layer as much rest as before.

        * `now`: a model that has the layers of `last` and otherwise this size; `known`: of `last`.
        """
        return self._weights(now, last, size, known.options) + known.rest * len(size.layers) / len(last.layers)

    def estimate(self, last: Step, step: Step) -> float:
        """The change of the outputs by a step of `further`, in the whole model."""
        before, after = (self._alone(known.options) if known else 0.0 for known in (last.eight_bit, step.eight_bit))
        return after - before

    def outputs(self, size: AnySize, options: EightBits, inputs: Sequence[Encoded]) -> Outputs:
        """The outputs of the file of a size, for inputs of the whole model."""
        session, model = session_of(self.files.file(size, options)), self.files.original.model.on("cpu")
        return self.files.answers.of_file(session, model, inputs, self.settings)

    def _alone(self, options: EightBits) -> float:
        return change(self.before, self.outputs(self.files.original.start, options, self.inputs))

    def _measured(self, step: Step, options: EightBits, in_float: float) -> Step:
        """The step as its file is.

        * `in_float`: the change of the same model in float32.
        """
        size, model = step.size, self.files.original.model
        moved = change(self.before, self.outputs(size, options, self.inputs))
        weighs = file_megabytes(self.files.file(size, options)) - gone_megabytes(self.fixed, model, size, options)
        rest = weighs - self._weights(self.files.original.cut(size), size, size, options)
        return replace(step, change=moved, megabytes=weighs, eight_bit=InEightBits(options, moved - in_float, rest))

    def _weights(self, now: Model, last: AnySize, size: AnySize, options: EightBits) -> float:
        """Megabytes of the weights of layers and embeddings, without rows that go in any case."""
        gone = gone_megabytes(self.fixed, self.files.original.model, size, options)
        return weights_megabytes(now, last, size, options) - gone
