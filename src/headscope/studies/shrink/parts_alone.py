"""What a part costs by itself, silenced in the whole model without a fit: an estimate beside what a step costs."""

from dataclasses import replace
from typing import TYPE_CHECKING

from headscope.models.silenced import silenced
from headscope.studies.shrink.answers import change
from headscope.studies.shrink.fine_size import FineSize
from headscope.studies.shrink.sizes import AnySize, Original

if TYPE_CHECKING:
    from headscope.studies.shrink.search import SizeSearch
    from headscope.studies.shrink.steps import Step


def estimate(search: "SizeSearch", last: "Step", step: "Step") -> float:
    """The change of the outputs by the part of a step alone, silenced in the whole model."""
    before, after = (alone(step.part, size, search.original) for size in (last.size, step.size))
    return _silenced(search, after) - _silenced(search, before)


def alone(part: str, size: AnySize, model: Original) -> AnySize:
    """The whole model without what a size lacks of the kind of a part; of layers, the one that the part names."""
    original = model.size
    if isinstance(size, FineSize):
        return size.alone(part, original.by_layer(len(original.layers)))
    if part == "neurons":
        return replace(original, width=size.width)
    if part == "embeddings":
        return replace(original, embeddings=size.embeddings)
    if part == "heads":
        return replace(original, heads=size.heads)
    layer = int(part.split()[1]) - 1
    return replace(original, layers=tuple(kept for kept in original.layers if kept != layer or layer in size.layers))


def _silenced(search: "SizeSearch", size: AnySize) -> float:
    original, answers, inputs, settings = search.original, search.answers, search.inputs, search.settings
    if size == original.start:
        return 0.0
    if size.embeddings:
        return change(search.before, answers.of(original.cut(size), inputs, settings))
    with silenced(original.model, original.kept(size)):
        return change(search.before, answers.of(original.model, inputs, settings))
