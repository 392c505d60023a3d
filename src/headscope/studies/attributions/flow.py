"""Attention flow: the most that can flow from the read tokens of a layer down to each input token.

Abnar and Zuidema 2020, section 3.3. One maximum flow for each input token in a graph of all layers below: the cost
grows with the fourth power of the tokens, so that the study takes it for a sample of short inputs.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

# Capacities are whole numbers of this part: a flow is exact within the number of edges by it.
UNIT = 2**26


def flows(
    maps: Sequence[Float[np.ndarray, "query key"]], readout: Float[np.ndarray, " query"]
) -> Float[np.ndarray, "layer key"]:
    """The flow from the tokens that are read at each layer to each input token.

    * `maps`: of each layer from the first, the capacities from its tokens to those of the layer below; rows sum to 1.
    * `readout`: the capacity from the source to each token.

    >>> flows([np.array([[0.5, 0.5], [0.0, 1.0]])], np.array([1.0, 0.0])).round(3).tolist()
    [[0.5, 0.5]]
    """
    return np.stack([_of_layer(maps[: layer + 1], readout) for layer in range(len(maps))])


def _of_layer(
    maps: Sequence[Float[np.ndarray, "query key"]], readout: Float[np.ndarray, " query"]
) -> Float[np.ndarray, " key"]:
    tokens, layers = len(readout), len(maps)
    # The nodes of layer l are l * tokens and on, 0 for the input; the last is the source.
    source = tokens * (layers + 1)
    capacities = np.zeros((source + 1, source + 1), np.int32)
    for layer, capacity in enumerate(maps, 1):
        upper, lower = (slice(each * tokens, (each + 1) * tokens) for each in (layer, layer - 1))
        capacities[upper, lower] = np.rint(capacity * UNIT)
    capacities[source, layers * tokens : source] = np.rint(readout * UNIT)
    graph = csr_array(capacities)
    return np.array([maximum_flow(graph, source, token).flow_value for token in range(tokens)]) / UNIT
