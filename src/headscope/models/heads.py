"""Names of sets of heads: "3-7,4-*" is head 7 of layer 3 and all of layer 4."""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from headscope.errors import HeadscopeError

ONE = re.compile(r"(\d{1,9}|\*)-(\d{1,9}|\*)", re.ASCII)


def parse(names: str, heads: Sequence[int]) -> Bool[np.ndarray, "layer head"]:
    """Parse names of heads.

    * `names`: LAYER-HEAD, separated by commas; both count from 1, and "*" means all.
    * `heads`: the number of heads of each layer.

    Raises `HeadscopeError` for a head outside the model, and for an invalid name.

    >>> parse("1-2,2-*", heads=(3, 2)).astype(int)
    array([[0, 1, 0],
           [1, 1, 0]])
    """
    named = np.zeros((len(heads), max(heads)), dtype=bool)
    for name in names.split(","):
        match = ONE.fullmatch(name.strip())
        if match is None:
            raise HeadscopeError(
                f"heads '{names[:80]}': '{name.strip()[:40]}' is no head; write LAYER-HEAD, as in 3-7,4-*"
            )
        layer, head = (None if number == "*" else int(number) - 1 for number in match.groups())
        _refuse_missing(name.strip(), layer, head, heads)
        rows, columns = (slice(None) if number is None else number for number in (layer, head))
        named[rows, columns] = True
    return named & existing(heads)


def name(chosen: Bool[np.ndarray, "layer head"], heads: Sequence[int]) -> str:
    """The shortest name of a set of heads; "" for an empty one.

    >>> name(parse("2-1,1-2,2-2", heads=(3, 2)), heads=(3, 2))
    '1-2,2-*'
    """
    chosen = chosen & existing(heads)
    if (chosen == existing(heads)).all():
        return "*-*"
    names = []
    for layer, number in enumerate(heads):
        heads_chosen = np.flatnonzero(chosen[layer]) + 1
        complete = 0 < len(heads_chosen) == number
        names += [f"{layer + 1}-*"] if complete else [f"{layer + 1}-{head}" for head in heads_chosen]
    return ",".join(names)


def existing(heads: Sequence[int]) -> Bool[np.ndarray, "layer head"]:
    """Mask of existing heads, for layers with different numbers of heads.

    >>> existing((3, 2)).astype(int)
    array([[1, 1, 1],
           [1, 1, 0]])
    """
    return np.arange(max(heads)) < np.array(heads)[:, None]


def _refuse_missing(name: str, layer: int | None, head: int | None, heads: Sequence[int]) -> None:
    if layer is not None and not 0 <= layer < len(heads):
        raise HeadscopeError(f"head '{name}' does not exist: layers are 1 to {len(heads)}; name one of them")
    most = max(heads) if layer is None else heads[layer]
    if head is not None and not 0 <= head < most:
        where = "a layer" if layer is None else f"layer {layer + 1}"
        raise HeadscopeError(f"head '{name}' does not exist: heads of {where} are 1 to {most}; name one of them")
