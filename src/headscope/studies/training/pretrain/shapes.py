"""Shapes of small models: layers, heads and width."""

import re
from dataclasses import dataclass

from headscope.errors import HeadscopeError

SHAPE = re.compile(r"(\d{1,3})x(\d{1,3})x(\d{1,4})")


@dataclass(frozen=True)
class Shape:
    """The numbers of layers and of heads in each, and the width of the hidden states."""

    layers: int
    heads: int
    width: int

    def __str__(self) -> str:
        return f"{self.layers}x{self.heads}x{self.width}"


def shape_of(name: str) -> Shape:
    """A shape such as 4x4x128.

    Raises `HeadscopeError` for one that is none, or whose heads do not share the width evenly.

    >>> shape_of("2x4x64")
    Shape(layers=2, heads=4, width=64)
    """
    if not (match := SHAPE.fullmatch(name)) or "0" in match.groups():
        raise HeadscopeError(f"shape '{name}' is not LAYERSxHEADSxWIDTH; use e.g. 4x4x128")
    shape = Shape(*map(int, match.groups()))
    if shape.width % shape.heads:
        nearest = max(1, round(shape.width / shape.heads)) * shape.heads
        raise HeadscopeError(
            f"shape '{name}': a width of {shape.width} is not divisible by {shape.heads} heads; use e.g. "
            f"{Shape(shape.layers, shape.heads, nearest)}"
        )
    return shape


def refuse_odd(shape: Shape) -> None:
    """Raise `HeadscopeError` if a shape's layers are no two halves to stack."""
    if shape.layers % 2:
        other = Shape(shape.layers + 1, shape.heads, shape.width)
        raise HeadscopeError(f"shape '{shape}': {shape.layers} layers are no two halves to stack; use e.g. {other}")
