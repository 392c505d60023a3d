"""Tables of columns: numpy arrays with one row for each case (word, link, mention)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np


@dataclass(frozen=True)
class Columns:
    """A table; each field of a subclass is a column, an array whose first axis are the rows.

    >>> @dataclass(frozen=True)
    ... class Words(Columns):
    ...     length: np.ndarray
    >>> words = Words.concatenate([Words(np.array([3, 5])), Words(np.array([4]))])
    >>> len(words), words[words.length > 3].length.tolist()
    (3, [5, 4])
    """

    ORDER: ClassVar[tuple[str, ...]] = ()

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._columns()[0])

    def __getitem__(self, rows: np.ndarray) -> Self:
        """Some of the rows: their numbers, or a mask."""
        return type(self)(*(column[rows] for column in self._columns()))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, which must not be none."""
        return cls(*map(np.concatenate, zip(*(part._columns() for part in parts), strict=True)))

    @classmethod
    def in_order(cls, parts: Sequence[Self]) -> Self:
        """The rows of several batches in the order of the corpus: by the columns `ORDER`, the first of them first."""
        rows = cls.concatenate([part for part in parts if len(part)] or parts[:1])
        return rows[np.lexsort([getattr(rows, name) for name in reversed(cls.ORDER)])]

    def _columns(self) -> list[np.ndarray]:
        return [getattr(self, field.name) for field in fields(self)]
