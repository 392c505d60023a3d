"""Weights in eight bits: dynamic quantisation of an ONNX file by onnxruntime.

Weights are whole numbers of eight bits with a scale, and so are the inputs of linear maps, whose scale is found anew at
each pass. See onnxruntime's guide "Quantize ONNX models".
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.catalog import require
from headscope.models.model import Model
from headscope.models.onnx import silent
from headscope.models.removable_parts import layers_of
from headscope.storage.files import replacing

EMBEDDINGS, TO_STATES, REST = "embeddings", "map of embeddings to states", "maps outside of layers"
# Names of the map from narrower embeddings to the width of the states: of ALBERT, and of ELECTRA.
MAPS_TO_STATES = ("embedding_hidden_mapping_in", "embeddings_project")
# Modules of the exported network by which a node was made.
SCOPES = "pkg.torch.onnx.name_scopes"
NETWORK = "network."

Nodes = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class EightBits:
    """How weights become numbers of eight bits.

    * `per_channel`: a scale for each output of a linear map, not one for each map.
    * `reduce_range`: seven of the eight bits: on processors whose sums of products of eight bits may overflow.
    * `kept`: the parts that stay in float32.
    """

    per_channel: bool = False
    reduce_range: bool = False
    kept: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The options in words.

        >>> EightBits(per_channel=True, kept=("layer 1",)).words
        'per channel, eight bits, layer 1 in float32'
        """
        scale = "per channel" if self.per_channel else "per map"
        kept = f"{' and '.join(self.kept)} in float32" if self.kept else ""
        return ", ".join(filter(None, (scale, "seven bits" if self.reduce_range else "eight bits", kept)))


def quantised(source: Path, target: Path, options: EightBits, nodes: Nodes) -> Path:
    """Write an ONNX file with weights of eight bits, but for the `nodes` of parts that are kept; see `nodes_by_part`.

    Raises `HeadscopeError` if the extra `onnx` is not installed, or the file cannot be written.
    """
    require("onnxruntime")
    quantization: Any = importlib.import_module("onnxruntime.quantization")
    with replacing(target) as scratch, silent():
        quantization.quantize_dynamic(
            _without_shapes_of_weights(source),
            scratch,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            nodes_to_quantize=[node for part, names in nodes.items() if part not in options.kept for node in names],
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


def nodes_by_part(path: Path, model: Model) -> dict[str, list[str]]:
    """The nodes of an ONNX file that have weights: of the embeddings, each layer, and maps outside of layers.

    The map from narrower embeddings to states is a part of its own.
    """
    graph: Any = require("onnx").load(str(path)).graph
    weights = {tensor.name for tensor in graph.initializer if len(tensor.dims) == 2}
    layers = layers_of(model).layers
    scopes = {}
    for name, module in model.network.named_modules():
        if module in layers:
            scopes[f"{NETWORK}{name}"] = f"layer {layers.index(module) + 1}"
        elif name.rpartition(".")[2] in MAPS_TO_STATES:
            scopes[f"{NETWORK}{name}"] = TO_STATES
    by_part: dict[str, list[str]] = {}
    for node in graph.node:
        if node.op_type in ("MatMul", "Gemm", "Gather") and weights.intersection(node.input):
            by_part.setdefault(_part(node, scopes), []).append(node.name)
    return by_part


def _part(node: Any, scopes: Mapping[str, str]) -> str:
    """The part that made a node of weights."""
    if node.op_type == "Gather":
        return EMBEDDINGS
    stored = next((entry.value for entry in node.metadata_props if entry.key == SCOPES), "[]")
    inside = json.loads(stored.replace("'", '"'))
    return next((scopes[scope] for scope in inside if scope in scopes), REST)
