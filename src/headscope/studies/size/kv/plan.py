"""The plan: the most KV heads that may forget within the bound of the loss, what that saves, and its files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.statistics.bootstrap import Tally
from headscope.storage.files import write_atomically
from headscope.studies.size.kv.forgetting import Forgets, KeptKeys, KeyHeads

BYTES = 2  # of a number of 16 bits
DUO = "duo_attention"
CONTEXTS = (4096, 32_768, 131_072)
Rises = Callable[[Forgets], Tally]


def largest(order: Int[np.ndarray, "key_head 2"], none: Forgets, bound: float, rise: Rises) -> Forgets:
    """The longest beginning of an order of KV heads whose rise of the loss, with its interval, is below the bound.

    It is looked for by halves, as if the loss rose with each KV head that forgets.

    * `order`: layer and KV head, from 0, the one that costs least first; `rise`: of a plan, on the texts that choose.

    >>> from headscope.statistics.bootstrap import tally
    >>> costs = lambda plan: tally(np.full((9, 1), 0.01 * plan.sum()), np.ones(9, bool), np.ones((5, 9)))
    >>> largest(np.array([[0, 1], [1, 0], [0, 0]]), np.zeros((2, 2), bool), 0.025, costs).astype(int)
    array([[0, 1],
           [1, 0]])
    """
    few, many = 0, len(order)
    while few < many:
        middle = (few + many + 1) // 2
        if rise(_first(order, middle, none)).interval[0, 1] < bound:
            few = middle
        else:
            many = middle - 1
    return _first(order, few, none)


def _first(order: Int[np.ndarray, "key_head 2"], number: int, none: Forgets) -> Forgets:
    plan = none.copy()
    plan[tuple(order[:number].T)] = True
    return plan


def cache(
    heads: KeyHeads, seen: Float[np.ndarray, " layer"], forgets: Forgets, kept: KeptKeys
) -> Float[np.ndarray, " context"]:
    """Bytes of the keys and values of a text of each length of `CONTEXTS`, by a plan.

    * `seen`: how many tokens each layer sees; infinite without a window.

    >>> heads, plan = KeyHeads((2,), (128,)), np.array([[True, False]])
    >>> (cache(heads, np.array([np.inf]), plan, KeptKeys(4, 60)) / (BYTES * 128)).tolist()[0]
    4160.0
    """
    tokens = np.minimum(np.array(CONTEXTS)[:, None, None], seen[:, None])  # [context, layer, 1]
    there = np.arange(forgets.shape[1]) < np.array(heads.number)[:, None]
    kept_tokens = np.where(forgets, np.minimum(tokens, kept.sinks + kept.window), tokens) * there
    return (kept_tokens.sum(-1) * np.array(heads.width) * BYTES).sum(-1)


def write(folder: Path, plan: dict[str, Any], forgets: Forgets, there: Bool[np.ndarray, "layer key_head"]) -> None:
    """Write `plan.json`, and DuoAttention's form of the plan if all layers have equally many KV heads.

    DuoAttention reads a folder with `full_attention_heads.tsv`, a row for each layer, 1 for a KV head that keeps all,
    and the sizes in `config.json`; its window counts the token itself, too.

    * `plan`: with `sinks` and `window`; `there`: the KV heads that exist.
    """
    for name, chosen in (("forget", forgets), ("keep", ~forgets & there)):
        plan = plan | {name: [f"{layer + 1}-{head + 1}" for layer, head in np.argwhere(chosen).tolist()]}
    write_atomically(folder / "plan.json", f"{json.dumps(plan, indent=2)}\n")
    if there.all():
        rows = ["\t".join(str(float(full)) for full in row) for row in ~forgets]
        write_atomically(folder / DUO / "full_attention_heads.tsv", "\n".join([*rows, ""]))
        sizes = {"sink_size": plan["sinks"], "recent_size": plan["window"]}
        write_atomically(folder / DUO / "config.json", f"{json.dumps(sizes)}\n")
