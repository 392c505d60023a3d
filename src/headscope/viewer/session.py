"""The models, corpora and results that the viewer shows; no web here."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import xarray as xr

from headscope.capture.interventions import Mode
from headscope.catalog import missing
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError, suggest
from headscope.linguistics.sentence import segment_text
from headscope.models import Model
from headscope.models.heads import name, parse
from headscope.report.cards import Card, MeasuredModel, card
from headscope.report.heads_page import card_fragment
from headscope.report.layers_page import LayerPart, layer_parts, part_fragment
from headscope.studies.words.attributions import METHODS
from headscope.studies.words.attributions.methods import FLOW_TOKENS
from headscope.studies.words.attributions.one_text import text_importance
from headscope.viewer import saved_index, tiles
from headscope.viewer.interventions import Interventions
from headscope.viewer.kept_texts import KeptText, TextStore, identifier
from headscope.viewer.loading import time_limit
from headscope.viewer.saved_index import model_numbers
from headscope.viewer.text_changes import text_changes
from headscope.viewer.text_maps import MOST_TOKENS, MOST_WORDS, TextMaps, most_tokens, text_maps
from headscope.viewer.text_tokens import text_tokens, word_pairs

PAGE = 20
SECONDS = 120.0
USUAL = ("relation", "previous", "next")


def no_change(number: int) -> None:
    """Do nothing: the models have networks of their own."""


class Missing(HeadscopeError):
    """A text, head, corpus or result that is not there."""


@dataclass(eq=False)
class ViewSession:
    """One model or two, the corpora to pick texts from, and results about the models.

    * `measured`: the results about each model, None for a model without results.
    * `index`: the examples on which heads are most themselves; see `example_index`.
    * `seconds`: the most time of a request that runs a model.
    * `training`: what the training is called whose steps the models are, in their order; "" of other models.
    * `prepare`: called with the number of a model before it runs: steps may share one network.
    * `stored`: descriptions of models that are not loaded: maps of texts are kept, and no other text can be read.

    One thread at a time may call `text` and `try_heads`; the others read what is kept.
    """

    models: tuple[Model, ...]
    corpora: tuple[Corpus, ...] = ()
    measured: tuple[MeasuredModel | None, ...] = ()
    index: xr.Dataset | None = None
    seconds: float = SECONDS
    texts: TextStore = field(default_factory=TextStore)
    stored: tuple[dict[str, Any], ...] = ()
    training: str = ""
    prepare: Callable[[int], None] = no_change
    _fragments: dict[tuple[int, int], str] = field(default_factory=dict, repr=False)

    def description(self) -> dict[str, Any]:
        """The models, the corpora and the results."""
        sources = [source for measured in self.measured if measured for source in measured.sources]
        return {
            "training": self.training or None,
            "models": [*(interventions.description for interventions in self.interventions), *self.stored],
            "corpora": [corpus.name for corpus in self.corpora],
            "results": [{name: str(source.result.attrs[name]) for name in ("study", "corpus")} for source in sources],
            "examples_by": self._focus,
            "methods": [*METHODS.items()],
            "exports": ["html"] if missing("vl_convert") else ["html", "pdf"],
        }

    def text(self, first: str, second: str | None = None, against: str | None = None) -> dict[str, Any]:
        """A text as tokens and words; its maps are kept.

        * `against`: a text to compare with; where other methods take the number of a model, 0 is then the first text
          and 1 this one.

        Raises `HeadscopeError` for a text that cannot be read or compared, `TimeUp` if a model takes too long.
        """
        key = identifier(first, second, against)
        kept = self.texts.get(key)
        if kept is None:
            maps = self._all_maps(first, second, against)
            kept = KeptText(first, second, maps, against, None if against is None else text_changes(*maps))
            self.texts.add(kept)
        parts = [maps.description for maps in kept.maps]
        for part in parts:
            part["unit"] = "words" if kept.by_words else "pieces"
        answer = {"id": key, "first": first, "second": second, "against": against} | parts[0] | {"others": parts[1:]}
        if kept.changes:
            answer |= {"same_tokens": False, "word_pairs": kept.changes.pairs, "changes": kept.changes.heads}
        elif parts[1:]:
            texts = [maps.text for maps in kept.maps]
            answer["same_tokens"] = texts[0].tokens == texts[1].tokens
            answer["word_pairs"] = word_pairs(*texts[:2])
        return answer

    def overview(self, text: str, model: int = 0, shared: int = 0) -> bytes:
        """All maps of a text, small; `shared`: between the words that both texts have. See the format in `server`."""
        maps, changes = self.maps(text, model), self.kept(text).changes
        maximum, levels = changes.overviews[model] if shared and changes else maps.overview
        header = struct.pack("<HHH", *levels.shape[:3])
        return header + maximum.astype("<f4").tobytes() + levels.tobytes()

    def tile(self, text: str, layer: int, head: int, zoom: int, row: int, column: int, model: int = 0) -> bytes:
        """A tile of a map; see `tiles.pack`."""
        maps = self.maps(text, model)
        self.refuse_head(maps, layer, head)
        cells = -(-len(maps.text) >> zoom) if 0 <= zoom < maps.zooms else 0
        if not (0 <= row * tiles.TILE < cells and 0 <= column * tiles.TILE < cells):
            raise Missing(f"there is no tile {zoom}/{row}/{column}: {len(maps.text)} tokens have {maps.zooms} zooms")
        return tiles.pack(maps.tile(layer, head, zoom, row, column))

    def words(self, text: str, layer: int, head: int, model: int = 0) -> bytes:
        """The map between the words of a text; see `tiles.pack`."""
        maps = self.maps(text, model)
        self.refuse_head(maps, layer, head)
        if len(maps.text.words) > MOST_WORDS:
            raise HeadscopeError(f"the text has {len(maps.text.words):,} words; maps of words are for {MOST_WORDS}")
        return tiles.pack(maps.between_words(layer, head))

    @cached_property
    def interventions(self) -> list[Interventions]:
        """Each model with the first corpus."""
        return [Interventions(model, next(iter(self.corpora), None)) for model in self.models]

    def try_heads(self, text: str, names: str, mode: Mode = "uniform", model: int = 0) -> dict[str, Any]:
        """The predictions of a model on a text that is kept, before and after heads are disabled.

        * `names`: see `heads.parse`.

        Raises `HeadscopeError` for heads or a mode that do not exist, and for a text without a masked word.
        """
        encoded = self.maps(text, model).text.encoded
        interventions = self.interventions[self._loaded(text, model)]
        heads = interventions.model.capture.heads
        disabled = parse(names, heads)
        with time_limit(interventions.model.network, self.seconds):
            before, after = interventions.predictions(encoded), interventions.without(encoded, disabled, mode)
        return {
            "kind": interventions.kind,
            "heads": name(disabled, heads),
            "before": [predictions.description for predictions in before],
            "after": [predictions.description for predictions in after],
        }

    def importances(self, text: str, method: str, model: int = 0) -> dict[str, Any]:
        """The importance of each token of a text that is kept, by layer, and what it explains.

        Raises `HeadscopeError` as `text_importance`, `TimeUp` if the model takes too long.
        """
        encoded = self.maps(text, model).text.encoded
        explained = self.models[self._loaded(text, model)]
        with time_limit(explained.network, self.seconds):
            importance = text_importance(explained, encoded, (method,))
        values = importance.tokens[[*METHODS].index(method)]
        if not np.isfinite(values).all():
            raise HeadscopeError(f"{METHODS[method]} is taken of texts of at most {FLOW_TOKENS} tokens")
        target = importance.target.differentiated if "gradient" in method else importance.target.name
        return {"target": target, "prediction": importance.prediction, "values": values.tolist()}

    def model_of(self, text: str, model: int) -> int:
        """The number of the model behind the maps of a number: two compared texts share one."""
        return 0 if self.kept(text).changes else model

    def titles(self, text: str) -> list[str]:
        """What the maps of a text are of: the names of the models, or of two texts that are compared."""
        names = [str(model["name"]) for model in self.description()["models"]]
        return [f"{names[0]}, {number} text" for number in ("first", "second")] if self.kept(text).changes else names

    def _loaded(self, text: str, model: int) -> int:
        """The number of the model of the maps with a number, ready to run. Raises `Missing` if it is not loaded."""
        model = self.model_of(text, model)
        if model >= len(self.models):
            raise Missing("the model is not loaded; name it to run it on this text")
        self.prepare(model)
        return model

    def numbers(self, model: int = 0) -> dict[str, Any]:
        """All numbers of the heads of a model, if there is one (`Missing`), and what the heads do by them."""
        if not 0 <= model < len(self._numbers):
            raise Missing(f"there is no model {model}: models are 0 to {len(self._numbers) - 1}")
        return self._numbers[model]

    def results_of(self, model: int) -> MeasuredModel | None:
        """The results about a model; None without any."""
        return self.measured[model] if 0 <= model < len(self.measured) else None

    def card(self, layer: int, head: int, model: int = 0) -> str:
        """The report card of a head as a piece of HTML. Raises `Missing` without results about it."""
        return card_fragment(self.head_card(layer, head, model))

    def panel(self, number: int, model: int = 0) -> str:
        """What layers know as a piece of HTML; `number`, from 0, is that of a title of `numbers(model)["panels"]`.

        Raises `Missing` if there is no such panel.
        """
        panels = self._panels[model] if 0 <= model < len(self._panels) else []
        if not 0 <= number < len(panels):
            raise Missing(f"there is no panel {number} of model {model}: it has {len(panels)}")
        if (model, number) not in self._fragments:  # its pictures take a second
            self._fragments[model, number] = part_fragment(panels[number])
        return self._fragments[model, number]

    def head_card(self, layer: int, head: int, model: int = 0) -> Card:
        """The report card of a head. Raises `Missing` without results about it."""
        measured = self.results_of(model)
        if measured is None:
            raise Missing("there are no results about this model; name folders of results after the model")
        try:
            return card([measured], layer, head)[0]
        except HeadscopeError as error:
            raise Missing(str(error)) from error

    def examples(self, layer: int, head: int, by: str = "") -> list[dict[str, Any]]:
        """The examples on which a head is most itself, by a class of token or a relation; by default the first.

        Raises `Missing` without an index, or if it has no such head or class.
        """
        if self.index is None:
            raise Missing("there is no index of examples; 'headscope index MODEL CORPUS -o DIR' makes one")
        by = by or self._focus[0]
        if by not in self._focus:
            raise Missing(f"the index has no '{by[:80]}'; {suggest(by[:80], self._focus)}")
        if layer not in self.index["layer"] or head not in self.index["head"]:
            raise Missing(f"the index has no head {layer}-{head}")
        return saved_index.entries(self.index, layer, head, by)

    def usual_focus(self, layer: int, head: int) -> str:
        """The class or relation of the kind of a head, or else the first of the index; as `usual` of examples.js."""
        kinds = [(kind, word) for *index, kind, word in self.numbers()["kinds"] if index == [layer, head]]
        fitting = [name for kind, word in kinds for name in self._focus if name == kind or name.startswith(f"{word}:")]
        return next(iter([*fitting, *self._focus]), "")

    def usual_heads(self) -> tuple[tuple[int, int], ...]:
        """The head that a view without a chosen head shows: the first with a relation or a neighbour, else 1-1."""
        kinds = [(layer, head) for layer, head, kind, _ in self.numbers()["kinds"] if kind in USUAL]
        return (kinds[0] if kinds else (1, 1),)

    def page(self, corpus: str, page: int = 0) -> list[dict[str, str | None]]:
        """The texts of a page of a corpus, 20 a page. Raises `Missing` if there is no such corpus or page."""
        by_name = {opened.name: opened for opened in self.corpora}
        if corpus not in by_name:
            raise Missing(f"corpus '{corpus[:80]}' is not open; {suggest(corpus[:80], by_name)}")
        chosen = by_name[corpus]
        if not 0 <= page * PAGE < chosen.n_examples:
            raise Missing(f"corpus '{corpus}' has {-(-chosen.n_examples // PAGE)} pages, counted from 0")
        examples = islice(chosen, page * PAGE, (page + 1) * PAGE)
        segments = [[segment_text(segment) for segment in example.segments] for example in examples]
        return [{"first": segment[0], "second": segment[1] if segment[1:] else None} for segment in segments]

    def kept(self, text: str) -> KeptText:
        """A text that is kept, with its maps. Raises `Missing` if it is not."""
        kept = self.texts.get(text)
        if kept is None:
            raise Missing(f"text '{text[:16]}' is not kept; send it again")
        return kept

    def maps(self, text: str, model: int = 0) -> TextMaps:
        """The maps of a text that is kept. Raises `Missing` if it is not, or there is no such model."""
        maps = self.kept(text).maps
        if not 0 <= model < len(maps):
            raise Missing(f"there is no model {model}: models are 0 to {len(maps) - 1}")
        return maps[model]

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        results = [self.results_of(model) for model in range(len(self._panels))]
        titles = [[part.title for part in parts] for parts in self._panels]
        return [model_numbers(measured) | {"panels": names} for measured, names in zip(results, titles, strict=True)]

    @cached_property
    def _panels(self) -> list[list[LayerPart]]:
        """What the layers of each model know."""
        measured = [self.results_of(model) for model in range(len(self.models) + len(self.stored))]
        return [layer_parts(about) if about else [] for about in measured]

    @property
    def _focus(self) -> list[str]:
        return [] if self.index is None else self.index["focus"].values.tolist()

    def _all_maps(self, first: str, second: str | None, against: str | None) -> tuple[TextMaps, ...]:
        """The maps of a text by each model, or of two texts by one."""
        if against is None:
            return tuple(self._maps(number, first, second) for number in range(len(self.models)))
        if len(self.models) > 1:
            raise HeadscopeError("two texts are compared in one model; leave out the second model, or the other text")
        if second is not None:
            raise HeadscopeError("a pair is not compared with another text; leave out the second sentence")
        if not against.strip():
            raise HeadscopeError("the second text is empty; write a sentence")
        maps = tuple(self._maps(0, text, None, MOST_WORDS) for text in (first, against))
        for number, tokens in zip(("first", "second"), [read.text for read in maps], strict=True):
            if tokens.cut:
                raise HeadscopeError(f"the {number} text is too long to compare; write at most {len(tokens):,} tokens")
        return maps

    def _maps(self, number: int, first: str, second: str | None, most: int = MOST_TOKENS) -> TextMaps:
        model = self.models[number]
        self.prepare(number)
        text = text_tokens(model.tokenizer, min(most, most_tokens(model)), first, second)
        with time_limit(model.network, self.seconds):
            return text_maps(model, text)

    def refuse_head(self, maps: TextMaps, layer: int, head: int) -> None:
        if not 1 <= layer <= len(maps.heads):
            raise Missing(f"there is no head {layer}-{head}: the model has {len(maps.heads)} layers")
        if not 1 <= head <= maps.heads[layer - 1]:
            raise Missing(f"there is no head {layer}-{head}: layer {layer} has {maps.heads[layer - 1]} heads")
