"""An attention map as a small image: white for no attention, dark for the largest of the map."""

import base64
import struct
import zlib

import numpy as np
from jaxtyping import UInt8

INK = (12, 31, 77)
WHITE = 255


def map_image(levels: UInt8[np.ndarray, "query key"]) -> str:
    """An attention map as the address of a PNG image, one pixel a cell.

    The darkness of a pixel is the square root of its level: faint attention is visible.

    * `levels`: attention in steps of 0 to 255, 255 for the largest of the map.

    >>> map_image(np.array([[255, 0]], dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(levels)).decode()


def png(levels: UInt8[np.ndarray, "query key"]) -> bytes:
    """An attention map as a PNG file whose palette turns levels into colours."""
    height, width = levels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits a pixel, with a palette
    rows = np.pad(levels, ((0, 0), (1, 0))).tobytes()  # each row begins with the number of its filter: none
    chunks = [(b"IHDR", header), (b"PLTE", palette().tobytes()), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def palette() -> UInt8[np.ndarray, "level 3"]:
    """The colour of each level, from white to dark ink."""
    share = np.sqrt(np.arange(256) / 255)[:, None]
    return np.rint(WHITE + (np.array(INK) - WHITE) * share).astype(np.uint8)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
