"""How many megabytes the ONNX file of eight bits of a size will have, by its numbers alone."""

from torch import nn

from headscope.models import Model
from headscope.models.eight_bits import EMBEDDINGS, TO_STATES, EightBits
from headscope.models.embedding_width import embedding_width
from headscope.models.removable_parts import embedding_tables, layers_of
from headscope.studies.shrink.sizes import AnySize

# Bytes of a weight.
FLOAT32, EIGHT_BIT = 4, 1


def weights_megabytes(now: Model, last: AnySize, size: AnySize, options: EightBits) -> float:
    """Megabytes of the weights of layers and embeddings in the file of a size, with all rows of the tables.

    * `now`: a model that has the layers of `last` and otherwise this size, and embeddings of the whole width.
    * `options`: their layers are named as those of the whole model.
    """
    layers = {
        layer: module for layer, module in zip(last.layers, layers_of(now).layers, strict=True) if layer in size.layers
    }
    matrices = {f"layer {layer + 1}": _numbers(module, 2) for layer, module in layers.items()}
    tables, width = embedding_tables(now.network), size.embeddings
    matrices[EMBEDDINGS] = sum(_numbers(table, 2) for table in tables) * (width or embedding_width(now))
    matrices[EMBEDDINGS] //= embedding_width(now)
    matrices[TO_STATES] = width * embedding_width(now)
    vectors = FLOAT32 * sum(_numbers(module, 1) for module in layers.values())
    return (vectors + sum(numbers * _bytes(part, options) for part, numbers in matrices.items())) / 1e6


def gone_megabytes(fixed: float, model: Model, size: AnySize, options: EightBits) -> float:
    """Megabytes that rows which go in any case have in the file of a size.

    * `fixed`: what they have in `model`, the whole one in float32.
    """
    width = embedding_width(model)
    return fixed * (size.embeddings or width) / width * _bytes(EMBEDDINGS, options) / FLOAT32


def _bytes(part: str, options: EightBits) -> int:
    return FLOAT32 if part in options.kept else EIGHT_BIT


def _numbers(module: nn.Module, dims: int) -> int:
    """How many weights of so many dimensions a module has."""
    return sum(weight.numel() for weight in module.parameters() if weight.ndim == dims)
