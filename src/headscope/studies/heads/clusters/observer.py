"""Jensen-Shannon divergences between all pairs of heads, in nats; no map is kept beyond its batch.

The divergence of p and q is H((p + q) / 2) - (H(p) + H(q)) / 2: one logarithm for a pair and a token, and the entropies
of the heads themselves are those of a pair of one head. Rows of a map add up, so that a block of any cells will do:
small ones stay in the processor's cache, which is where the time goes.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope import catalog
from headscope.encoding.batch import Batch, Rows, Values
from headscope.passes.observing import MeasureObserver, RowsObserver

NAME = "divergence"
# Numbers of a block of all heads: short enough for the processor's caches, and for threads to share an example.
BLOCK = 2**18
# For cells without attention: x ln x is 0 there to any precision, and the logarithm finite.
NOWHERE = 2.0**-120
# Clark et al.'s code takes this much of an attention, and the rest from all tokens equally.
KEPT = 0.999


class DivergenceObserver(RowsObserver):
    """An observer of all layers of a batch that gives each example's divergence of each pair of heads.

    Pairs are those of `np.triu_indices(heads, 1)`, heads of all layers in a row.

    * `heads`: the number of heads of each layer; `measures`: names of measures that are read off in the same pass.
    * `as_coded`: as Clark et al.'s code: attention is smoothed first, and rows are summed instead of averaged.
    """

    def __init__(self, heads: tuple[int, ...], measures: Iterable[str] = (), *, as_coded: bool = False):
        self.ends, self.as_coded = np.cumsum([0, *heads]).tolist(), as_coded
        modules: dict[str, ModuleType] = {name: catalog.load("measures", name) for name in measures}
        self.collector = MeasureObserver(modules)
        self.maps: Float[Tensor, "example head query key"] | None = None

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch, self.maps = batch, None
        self.collector.start(batch)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        self.collector.add(layer, rows)
        if self.maps is None:
            size, keys = self.batch.real.shape
            self.maps = rows.attention.new_zeros(size, self.ends[-1], keys, keys)
        maps = self.maps[:, self.ends[layer] : self.ends[layer + 1]]
        maps[rows.examples, rows.heads or slice(None), rows.queries, rows.keys or slice(None)] = rows.attention

    def finish(self) -> dict[str, Values]:
        """The values of the measures, and `divergence`: [example, pair]."""
        assert self.maps is not None
        lengths = self.batch.real.sum(-1).tolist()
        pairs = np.stack([self._pairs(maps[:, :n, :n], n) for maps, n in zip(self.maps, lengths, strict=True)])
        self.maps = None
        values = torch.from_numpy(pairs.astype(np.float32)).to(self.batch.real.device)
        return self.collector.finish() | {NAME: Values(values, self.batch.lengths > 0)}

    def _pairs(self, maps: Float[Tensor, "head query key"], length: int) -> Float[np.ndarray, " pair"]:
        smoothed = maps * KEPT + (1 - KEPT) / length if self.as_coded else maps
        cells = smoothed.flatten(1)  # [head, cell]
        seen = (cells > 0).any(0)
        sums = divergences(cells if seen.all() else cells[:, seen])  # a causal mask hides half of them
        return sums if self.as_coded else sums / length


def divergences(cells: Float[Tensor, "head cell"]) -> Float[np.ndarray, " pair"]:
    """The divergences of all pairs of heads, summed over rows: `cells` are those of any rows, one after the other.

    >>> divergences(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).round(4).tolist()
    [0.6931, 0.0, 0.6931]
    """
    sums = entropies_of_means(cells)
    first, second = np.triu_indices(len(sums), 1)
    diagonal = np.diag(sums)
    return np.maximum(sums[first, second] - (diagonal[first] + diagonal[second]) / 2, 0)


def entropies_of_means(cells: Float[Tensor, "head cell"]) -> Float[np.ndarray, "head head"]:
    """-sum over cells of m ln m, m the mean of two heads, for each pair; those below the diagonal are 0.

    Sums are of float32 within a block and of float64 over blocks: the error of a row is about 1e-7.
    """
    halves = (cells / 2).clamp_min(NOWHERE)
    blocks = halves.split(max(512, BLOCK // len(halves)), dim=1)
    if not halves.is_cpu:
        return torch.stack([_by_torch(block) for block in blocks]).sum(0, dtype=torch.float64).cpu().numpy()
    # NumPy's logarithms take a fourth to a half of the time of torch's, and other threads can work meanwhile.
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return sum(pool.map(_by_numpy, (block.numpy() for block in blocks)), np.zeros((len(halves),) * 2))


def _by_numpy(halves: Float[np.ndarray, "head cell"]) -> Float[np.ndarray, "head head"]:
    halves, (logarithm, unit) = np.ascontiguousarray(halves), _logarithm()
    sums, means, logarithms = np.zeros((len(halves),) * 2), np.empty_like(halves), np.empty_like(halves)
    for head, half in enumerate(halves):
        mean = np.add(half, halves[head:], out=means[head:])
        sums[head, head:] = -np.vecdot(mean, logarithm(mean, out=logarithms[head:]))
    return sums * unit


@cache
def _logarithm() -> tuple[np.ufunc, float]:
    """The fastest logarithm of NumPy, and its unit in nats: that to base 2 where there is vector code for it."""
    functions = np.lib.introspect.opt_func_info(func_name="^log2$", signature="float32")
    scalar = all("baseline" in signature["current"] for signature in functions.get("log2", {}).values())
    return (np.log, 1.0) if scalar else (np.log2, float(np.log(2)))


def _by_torch(halves: Float[Tensor, "head cell"]) -> Float[Tensor, "head head"]:
    sums = halves.new_zeros(len(halves), len(halves))
    for head, half in enumerate(halves):
        mean = half + halves[head:]
        sums[head, head:] = -torch.linalg.vecdot(mean, mean.log())
    return sums
