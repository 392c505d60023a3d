"""Memory that the C library holds back after arrays of many sizes are freed."""

import ctypes
import sys
from contextlib import suppress


def return_freed_memory() -> None:
    """Give freed memory back to the operating system (glibc; about a millisecond).

    Otherwise it grows with the corpus: batches have arrays of many sizes, and the gaps between them fit no later ones.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)
