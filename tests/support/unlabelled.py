"""A folder of maps to be labelled; one token is dangerous if it is not shown as text."""

from pathlib import Path
from typing import Any

import numpy as np

from headscope.studies.heads.patterns.labelled_maps import Map
from pattern_workshop.written_maps import write

EVIL = "<img src=x onerror=window.ran=1>"


def maps(number: int = 4, **fields: Any) -> list[Map]:
    """Maps of 5 tokens: in the first, row 1 looks at column 2 with 0.5, which is the most."""
    tokens = ("[CLS]", EVIL, "sat", ".", "[SEP]")
    found = []
    for index in range(number):
        attention = np.full((5, 5), 0.2, np.float32)
        attention[1] = [0.1, 0.1, 0.5, 0.1, 0.2]
        found.append(Map(index + 1, attention, tokens, model="tiny", corpus="made", layer=1, head=1, **fields))
    return found


def folder(path: Path, number: int = 4, **fields: Any) -> Path:
    """The same on the disk."""
    write(path, maps(number, **fields))
    return path
