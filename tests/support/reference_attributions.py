"""Naive attributions of one input of a BERT classifier: loops over Hugging Face's own attentions and modules."""

from typing import Any

import networkx
import numpy as np
import torch
from torch import Tensor

TARGET = 0  # the token that the classifier reads


class Naive:
    """The attentions, values, states and gradients of one unpadded input of a `BertForSequenceClassification`."""

    def __init__(self, network: Any, ids: Tensor):
        network.set_attn_implementation("eager")
        self.network, self.layers = network, network.bert.encoder.layer
        self.values: list[Tensor] = []
        handles = [
            layer.attention.self.value.register_forward_hook(lambda module, args, output: self.values.append(output))
            for layer in self.layers
        ]
        answer = network(ids[None], output_attentions=True, output_hidden_states=True)
        for handle in handles:
            handle.remove()
        self.heads = network.config.num_attention_heads
        logarithms = answer.logits[0].log_softmax(-1)
        self.states, self.attentions = answer.hidden_states, answer.attentions
        self.ids, self.predicted, self.pad = ids, int(logarithms.argmax()), network.config.pad_token_id
        wanted = (*self.attentions, *self.values, *self.states[:-1])
        found = torch.autograd.grad(logarithms[logarithms.argmax()], wanted)
        n = len(self.layers)
        self.attention_gradients, self.value_gradients, self.state_gradients = (
            found[:n],
            found[n : 2 * n],
            found[2 * n :],
        )
        self.values, self.attentions, self.states = (
            [tensor.detach() for tensor in tensors] for tensors in (self.values, self.attentions, self.states)
        )

    @torch.no_grad()
    def moved(self, layer: int, head: int, token: int) -> Tensor:
        """f(x) of one head for one token."""
        dense, width = self.layers[layer].attention.output.dense, self.values[layer].shape[-1] // self.heads
        part = slice(head * width, (head + 1) * width)
        return dense.weight[:, part] @ self.values[layer][0, token, part]

    def head_norm(self, layer: int, head: int) -> np.ndarray:
        """|a f(x)| for each query and key."""
        n = self.states[0].shape[1]
        return np.array(
            [
                [float((self.attentions[layer][0, head, i, j] * self.moved(layer, head, j)).norm()) for j in range(n)]
                for i in range(n)
            ]
        )

    @torch.no_grad()
    def norm(self, layer: int, *, residual: bool) -> np.ndarray:
        """|sum over heads of a f(x)|, or with residual connection and layer normalisation."""
        n, block = self.states[0].shape[1], self.layers[layer].attention.output
        norms = np.zeros((n, n))
        for i in range(n):
            parts: list[Any] = [
                sum(self.attentions[layer][0, h, i, j] * self.moved(layer, h, j) for h in range(self.heads))
                for j in range(n)
            ]
            if residual:
                parts[i] = parts[i] + self.states[layer][0, i]
                total: Any = sum(parts) + block.dense.bias
                deviation = (total.var(unbiased=False) + block.LayerNorm.eps).sqrt()
                parts = [(part - part.mean()) / deviation * block.LayerNorm.weight for part in parts]
            norms[i] = [float(part.norm()) for part in parts]
        return norms

    @torch.no_grad()
    def value_zeroing(self, layer: int) -> np.ndarray:
        """Cosine distances of the layer's output without the value of each key; rows sum to 1."""
        n = self.states[0].shape[1]
        plain, distances = self.states[layer + 1][0], np.zeros((n, n))
        for j in range(n):

            def zero(module: Any, args: tuple, output: Tensor, j: int = j) -> Tensor:
                return output.index_fill(1, torch.tensor([j]), 0.0)

            handle = self.layers[layer].attention.self.value.register_forward_hook(zero)
            changed = self.layers[layer](self.states[layer])[0]
            handle.remove()
            distances[:, j] = (1 - torch.cosine_similarity(changed, plain, dim=-1)).numpy()
        return distances / distances.sum(1, keepdims=True)

    def mixed(self, layer: int) -> np.ndarray:
        """Mean attention and the residual connection, half each."""
        mean = self.attentions[layer][0].mean(0).numpy()
        return 0.5 * mean + 0.5 * np.eye(len(mean))

    def importance(self) -> dict[str, np.ndarray]:
        """Importance by method, [layer, token]."""
        layers, dense = range(len(self.layers)), {"norm": False, "norm_residual": True}
        maps = {name: [self.norm(layer, residual=residual) for layer in layers] for name, residual in dense.items()}
        maps["attention"] = [self.attentions[layer][0].mean(0).numpy() for layer in layers]
        maps["value_zeroing"] = [self.value_zeroing(layer) for layer in layers]
        found = {name: np.stack([layer_map[TARGET] for layer_map in layer_maps]) for name, layer_maps in maps.items()}
        chains = {
            "rollout": [self.mixed(layer) for layer in layers],
            "norm_rollout": [layer_map / layer_map.sum(1, keepdims=True) for layer_map in maps["norm_residual"]],
            "value_zeroing_rollout": maps["value_zeroing"],
        }
        found |= {
            name: np.stack([_product(chain[: layer + 1])[TARGET] for layer in layers]) for name, chain in chains.items()
        }
        found["flow"] = np.stack([maximum_flows(chains["rollout"][: layer + 1]) for layer in layers])
        found["gradient_attention"] = np.stack(
            [(self.attentions[k] * self.attention_gradients[k])[0].clamp_min(0).sum((0, 1)) for k in layers]
        )
        for name, ones, others in (
            ("value_gradient", self.values, self.value_gradients),
            ("gradient_input", self.states, self.state_gradients),
        ):
            found[name] = np.stack([(ones[k] * others[k])[0].sum(-1) for k in layers])
        found["integrated_gradients"] = np.stack([self.integrated_gradients(layer) for layer in layers])
        return found

    def integrated_gradients(self, layer: int, blank: int | None = None, points: int = 60) -> np.ndarray:
        """Midpoint sums of gradients from the states of the input without its words to its own, point by point."""
        ids = self.ids.clone()
        ids[1:-1] = self.pad if blank is None else blank
        with torch.no_grad():
            first = self.network(ids[None], output_hidden_states=True).hidden_states[layer]
        way, total = self.states[layer] - first, torch.zeros_like(first)
        for point in range(points):
            states = (first + (point + 0.5) / points * way).requires_grad_()
            output = states
            for block in self.layers[layer:]:
                output = block(output)
                output = output[0] if isinstance(output, tuple) else output
            pooled = self.network.bert.pooler(output)
            logarithm = self.network.classifier(pooled)[0].log_softmax(-1)[self.predicted]
            total += torch.autograd.grad(logarithm, states)[0] / points
        return (way * total)[0].sum(-1).numpy()


def _product(maps: list[np.ndarray]) -> np.ndarray:
    product = np.eye(len(maps[0]))
    for layer_map in maps:
        product = layer_map @ product
    return product


def maximum_flows(maps: list[np.ndarray]) -> np.ndarray:
    """The maximum flow from the target token of the top layer to each input token, by networkx."""
    graph, n = networkx.DiGraph(), len(maps[0])
    for layer, capacity in enumerate(maps, 1):
        for i in range(n):
            for j in range(n):
                graph.add_edge((layer, i), (layer - 1, j), capacity=float(capacity[i, j]))
    return np.array([networkx.maximum_flow_value(graph, (len(maps), TARGET), (0, j)) for j in range(n)])
