"""The atlas: maps of all heads on the typical inputs of a result, framed by what each head does, and their tokens."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, product
from math import isnan

import xarray as xr

from headscope.figures.attention_image import AtlasCell, atlas, map_image
from headscope.figures.labels import head_name
from headscope.report.kinds import COLOURS, MEANINGS, MIXED, NAMES, head_kinds, kind_words, words_of
from headscope.report.parts import Figure, HeadKind
from headscope.report.wording import layers_named
from headscope.results.vocabulary import MOST_TYPICAL

STARTS = ("Ġ", "▁")  # of a word, as byte-level and SentencePiece tokenizers write it
HeadIndex = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HeadPicture:
    """A head of the atlas: the addresses of its maps of the inputs, the largest attention of each, its kinds."""

    layer: int
    head: int
    images: tuple[str, ...]
    maxima: tuple[float, ...]
    does: tuple[HeadKind, ...]

    @property
    def index(self) -> HeadIndex:
        """Its layer and head."""
        return self.layer, self.head

    @property
    def name(self) -> str:
        """The head as the papers write it."""
        return head_name(self.layer, self.head)

    @property
    def kinds(self) -> list[str]:
        """The names of its kinds, each once; "mixed" without one."""
        return list(dict.fromkeys(kind.kind for kind in self.does)) or [MIXED]

    @property
    def kind(self) -> str:
        """The most specific kind, which frames its map."""
        return self.kinds[0]

    @property
    def second(self) -> str:
        """The next kind, which has the corner of its map; "" without one."""
        return self.kinds[1] if len(self.kinds) > 1 else ""

    @property
    def word(self) -> str:
        """The word under its map."""
        return words_of(self.does[:1])

    @property
    def words(self) -> str:
        """All that it does, in words."""
        return words_of(self.does)


@dataclass(frozen=True)
class InputTokens:
    """The tokens of an input as people read them, and as the tokenizer writes them (`raw`)."""

    tokens: tuple[str, ...]
    raw: tuple[str, ...]

    @property
    def text(self) -> str:
        """The input as text, with its special tokens.

        >>> InputTokens(("un", "##seen"), ("un", "##seen")).text
        'unseen'
        >>> InputTokens(("It", "'s", "un", "seen"), ("It", "'s", "Ġun", "seen")).text
        "It's unseen"
        """
        if not any(token.startswith(STARTS) for token in self.raw):
            return " ".join(self.tokens).replace(" ##", "")
        pieces = zip(self.tokens, self.raw, strict=True)
        return "".join(f" {token}" if raw.startswith(STARTS) else token for token, raw in pieces).strip()


def typical_tokens(result: xr.Dataset) -> tuple[InputTokens, ...]:
    """The tokens of each typical input."""
    rows = zip(*(result[name].values.tolist() for name in ("typical_token", "typical_raw_token")), strict=True)
    return tuple(InputTokens(*(tuple(filter(None, tokens)) for tokens in pair)) for pair in rows)


@dataclass(frozen=True)
class Atlas:
    """All heads of a model as pictures, layer by layer, and the tokens of the inputs that they show, if any.

    * `query_groups`: how many heads of each layer share keys; `windows`: how far a local layer sees; see `provenance`.
    * `steps`: where the maps are those of one input at the steps of a training, their numbers.
    """

    model: str
    layers: tuple[tuple[HeadPicture, ...], ...]
    inputs: tuple[InputTokens, ...]
    steps: tuple[int, ...] = ()
    names: Mapping[str, str] = field(default_factory=lambda: NAMES)
    meanings: Mapping[str, str] = field(default_factory=lambda: MEANINGS)
    query_groups: Sequence[int] = ()
    windows: Sequence[int | None] = ()

    def begins_group(self, head: HeadPicture) -> bool:
        """Whether a head is the first of those that share its keys, and not the first of its layer."""
        return bool(self.query_groups) and head.head > 1 and (head.head - 1) % self.query_groups[head.layer - 1] == 0

    def is_local(self, layer: int) -> bool:
        """Whether a layer sees a window alone."""
        return bool(self.windows) and self.windows[layer - 1] is not None

    @property
    def shape(self) -> str:
        """Which heads share keys, and which layers see a window alone, in words; "" where none does."""
        sizes = sorted({size for size in self.query_groups if size > 1})
        shared = " or ".join(map(str, sizes))
        texts = [f" {shared} neighbouring heads share keys and values; lines part them."] if sizes else []
        for window in sorted({window for window in self.windows if window is not None}):
            local = [layer for layer, own in enumerate(self.windows, 1) if own == window]
            texts.append(f" {layers_named(local).capitalize()}, underlined, look at most {window:,} tokens away.")
        return "".join(texts)

    @property
    def heads(self) -> list[HeadPicture]:
        """The heads of all layers in a row."""
        return [head for layer in self.layers for head in layer]

    @property
    def columns(self) -> int:
        """The highest number of a head in any layer."""
        return max(head.head for head in self.heads)

    @cached_property
    def texts(self) -> list[str]:
        """The inputs as text, with their special tokens."""
        return [typical.text for typical in self.inputs]

    @property
    def cut(self) -> str:
        """A note that longer texts are cut, if one of the inputs has the maximum length."""
        longest = max((len(typical.tokens) for typical in self.inputs), default=0)
        return f" Texts of more than {MOST_TYPICAL} tokens are cut." if longest >= MOST_TYPICAL else ""

    @property
    def legend(self) -> list[dict[str, str | int]]:
        """The kinds that occur, with the number of heads whose frame each is, or that have it `beside` another."""
        first = Counter(head.kind for head in self.heads)
        beside = Counter(kind for head in self.heads for kind in head.kinds[1:])
        return [
            {"kind": kind, "name": self.names[kind], "colour": colour, "meaning": self.meanings[kind]}
            | {"count": first[kind], "beside": beside[kind]}
            for kind, colour in COLOURS.items()
            if first[kind] or beside[kind]
        ]

    def figure(self) -> Figure:
        """The atlas of the first input as a figure for a paper."""
        cells = [
            AtlasCell(head.layer, head.head, head.images[0], self.names[head.kind], head.word) for head in self.heads
        ]
        side = 60 if self.columns <= 12 else 44
        chart = atlas(cells, {self.names[kind]: colour for kind, colour in COLOURS.items()}, self.model, cell=side)
        caption = f"Attention maps of “{self.texts[0]}”; each is scaled to its largest attention.{self.cut}"
        return Figure("atlas", "Atlas", chart, caption, "typical_map_maximum")


def atlas_of(result: xr.Dataset, others: Sequence[xr.Dataset] = ()) -> Atlas | None:
    """The atlas of a result and others of its model, with the first maps that one of them holds; None without."""
    shelf = [result, *others]
    return _atlas(shelf, []) if any(map(has_maps, shelf)) else None


def atlas_of_heads(shelf: Sequence[xr.Dataset], heads: Sequence[HeadIndex]) -> Atlas:
    """The atlas of the heads of a model by its results; without maps where no result holds any."""
    return _atlas(shelf, heads)


def has_maps(result: xr.Dataset) -> bool:
    """True if a result holds maps of typical inputs, of one head at least."""
    return "typical_map" in result and not bool(result["typical_map_maximum"][:1].isnull().all())


def _atlas(shelf: Sequence[xr.Dataset], heads: Iterable[HeadIndex]) -> Atlas:
    kinds, first = head_kinds(shelf), next(filter(has_maps, shelf), None)
    inputs = () if first is None else typical_tokens(first)
    maps = {} if first is None else _maps(first, [len(typical.tokens) for typical in inputs])
    pictures = [
        HeadPicture(*head, *maps.get(head, ((), ())), tuple(kinds.get(head, []))) for head in sorted({*heads, *maps})
    ]
    layers = [tuple(layer) for _, layer in groupby(pictures, key=lambda picture: picture.layer)]
    steps = () if first is None or "typical_step" not in first.coords else tuple(first["typical_step"].values.tolist())
    shape = (json.loads(shelf[0].attrs.get(name, "[]")) for name in ("query_groups", "windows"))
    return Atlas(str(shelf[0].attrs["model"]), tuple(layers), inputs, steps, *kind_words(shelf[0].attrs), *shape)


def _maps(result: xr.Dataset, lengths: Sequence[int]) -> dict[HeadIndex, tuple[tuple[str, ...], tuple[float, ...]]]:
    """The images of each head that the model has, and the largest attention of each image."""
    levels = result["typical_map"].transpose("typical_input", "layer", "head", "typical_query", "typical_key").values
    maxima = result["typical_map_maximum"].transpose("typical_input", "layer", "head").values
    layers, heads = (list(enumerate(result[dim].values.tolist())) for dim in ("layer", "head"))
    return {
        (layer, head): (
            tuple(map_image(levels[at, row, column, :size, :size]) for at, size in enumerate(lengths)),
            tuple(maxima[:, row, column].tolist()),
        )
        for (row, layer), (column, head) in product(layers, heads)
        if not isnan(maxima[0, row, column])  # a head that the layer has
    }
