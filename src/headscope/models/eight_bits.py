"""Weights in eight bits: dynamic quantisation of an ONNX file by onnxruntime.

Weights are whole numbers of eight bits with a scale, and so are the inputs of linear maps, whose scale is found anew at
each pass. See onnxruntime's guide "Quantize ONNX models".
"""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.catalog import require
from headscope.models.onnx import silent
from headscope.storage.files import replacing

# Linear maps, and tables of embeddings.
MAPS = ("MatMul", "Gemm", "Gather")


@dataclass(frozen=True)
class EightBits:
    """How weights become numbers of eight bits.

    * `per_channel`: a scale for each output of a linear map, not one for each map.
    * `reduce_range`: seven of the eight bits: on processors whose sums of products of eight bits may overflow.
    """

    per_channel: bool = False
    reduce_range: bool = False

    @property
    def words(self) -> str:
        """The options in words.

        >>> EightBits(per_channel=True).words
        'per channel, eight bits'
        """
        scale = "per channel" if self.per_channel else "per map"
        return f"{scale}, {'seven bits' if self.reduce_range else 'eight bits'}"


def quantised(source: Path, target: Path, options: EightBits) -> Path:
    """Write an ONNX file with weights of eight bits.

    Raises `HeadscopeError` if the extra `onnx` is not installed, or the file cannot be written.
    """
    require("onnxruntime")
    quantization: Any = importlib.import_module("onnxruntime.quantization")
    model = _without_shapes_of_weights(source)
    weights = {tensor.name for tensor in model.graph.initializer if len(tensor.dims) == 2}
    nodes = [node for node in model.graph.node if node.op_type in MAPS and weights.intersection(node.input)]
    with replacing(target) as scratch, silent():
        quantization.quantize_dynamic(
            model,
            scratch,
            op_types_to_quantize=[*MAPS],
            nodes_to_quantize=[node.name for node in nodes],
            per_channel=options.per_channel,
            reduce_range=options.reduce_range,
        )
    return target


def _without_shapes_of_weights(path: Path) -> Any:
    """A file's model, whose weights have no shapes beside their own: onnxruntime turns some of them, but not these."""
    model: Any = require("onnx").load(str(path))
    weights = {tensor.name for tensor in model.graph.initializer}
    stay = [tensor for tensor in model.graph.value_info if tensor.name not in weights]
    del model.graph.value_info[:]
    model.graph.value_info.extend(stay)
    return model
