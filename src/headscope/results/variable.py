"""The labels of a measure's variable."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variable:
    """How a measure appears in a result: `coords` are those beside layer and head; `cases` is what a mean is over."""

    name: str
    long_name: str
    units: str
    source: str
    coords: dict[str, tuple[str, ...] | tuple[int, ...]] = field(default_factory=dict)
    cases: str = "examples"
