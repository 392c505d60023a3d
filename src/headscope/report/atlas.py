"""The atlas of a page: all heads as small real maps, framed by what they do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import xarray as xr

from headscope.figures.atlas import AtlasCell, atlas
from headscope.figures.labels import head_name
from headscope.figures.map_image import map_image
from headscope.report.kinds import COLOURS, MEANINGS, head_kinds, words_of
from headscope.report.parts import Figure, HeadKind


@dataclass(frozen=True, slots=True)
class HeadPicture:
    """A head of the atlas: its maps of the stored inputs and what it does.

    * `images`: addresses of its maps, one for each input; `maxima`: the largest attention of each.
    * `kind`: the most specific kind, `second` the next one, "" without one; `words`: all kinds in words.
    """

    layer: int
    head: int
    images: tuple[str, ...]
    maxima: tuple[float, ...]
    kind: str
    second: str
    words: str

    @property
    def name(self) -> str:
        """The head as the papers write it."""
        return head_name(self.layer, self.head)


@dataclass(frozen=True)
class Atlas:
    """All heads of a model as pictures, layer by layer, and the tokens of the inputs that they show."""

    model: str
    layers: tuple[tuple[HeadPicture, ...], ...]
    inputs: tuple[tuple[str, ...], ...]

    @property
    def heads(self) -> list[HeadPicture]:
        """The heads of all layers in a row."""
        return [head for layer in self.layers for head in layer]

    @cached_property
    def texts(self) -> list[str]:
        """The inputs as text, with their special tokens."""
        return [" ".join(tokens).replace(" ##", "") for tokens in self.inputs]

    @property
    def legend(self) -> list[tuple[str, str, str, int]]:
        """The kinds that occur: name, colour, meaning, number of heads."""
        counts = Counter(head.kind for head in self.heads)
        return [(kind, COLOURS[kind], MEANINGS[kind], counts[kind]) for kind in COLOURS if counts[kind]]

    def figure(self) -> Figure:
        """The atlas of the first input as a figure for a paper."""
        cells = [AtlasCell(head.layer, head.head, head.images[0], head.kind, head.words) for head in self.heads]
        side = 60 if max(map(len, self.layers)) <= 12 else 44
        chart = atlas(cells, COLOURS, f"{self.model}: all heads", cell=side)
        caption = f"Attention maps of “{self.texts[0]}”; each is scaled to its largest attention."
        return Figure("atlas", "Atlas", chart, caption, "typical_map_maximum")


def atlas_of(result: xr.Dataset, others: Sequence[xr.Dataset] = ()) -> Atlas | None:
    """The atlas of a result that holds maps of typical inputs; None for one that does not.

    * `others`: further results of the same model, whose kinds count too.
    """
    if "typical_map" not in result or not result.sizes["typical_input"]:
        return None
    kinds = head_kinds([result, *others])
    tokens = [[token for token in row if token] for row in result["typical_token"].values.tolist()]
    maps = result["typical_map"].transpose("typical_input", "layer", "head", "typical_query", "typical_key").values
    maxima = result["typical_map_maximum"].transpose("typical_input", "layer", "head").values
    layers = []
    for row, layer in enumerate(result["layer"].values.tolist()):
        heads = []
        for column, head in enumerate(result["head"].values.tolist()):
            if not isnan(maxima[0, row, column]):  # a head that the layer has
                images = [map_image(maps[at, row, column, : len(each), : len(each)]) for at, each in enumerate(tokens)]
                peaks = tuple(maxima[:, row, column].tolist())
                heads.append(_picture(layer, head, tuple(images), peaks, kinds.get((layer, head), [])))
        layers.append(tuple(heads))
    return Atlas(str(result.attrs["model"]), tuple(layers), tuple(map(tuple, tokens)))


def _picture(
    layer: int, head: int, images: tuple[str, ...], maxima: tuple[float, ...], kinds: Sequence[HeadKind]
) -> HeadPicture:
    names = list(dict.fromkeys(each.kind for each in kinds))
    first, second = [*names, "", ""][:2]
    return HeadPicture(layer, head, images, maxima, first or "mixed", second, words_of(kinds[:1]))
