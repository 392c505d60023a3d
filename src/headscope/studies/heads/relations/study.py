"""Run the study: from its options to a labelled result."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.random_weights import SEEDS
from headscope.models.random_weights import untrained as random_weights
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.results.variables import no_op_variables
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.split_half import split_of
from headscope.storage.kept_inputs import kept as shared
from headscope.studies.heads.relations.example_maps import picks, zoomed
from headscope.studies.heads.relations.filters import AS_CODED, NONE, PAPER, Limits, linked, parsed, relinked
from headscope.studies.heads.relations.link_attention import MOST_RELATIONS, LinkAttention, with_either
from headscope.studies.heads.relations.link_kinds import LinkKind, link_kind, of_frames
from headscope.studies.heads.relations.observer import LinkObserver
from headscope.studies.heads.relations.scores import Draws, best, mean_gain, no_op, score
from headscope.studies.heads.relations.variables import to_variables

APART = {"dependency": ("punct",)}


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    links: Literal["annotated", "dependency", "pairs", "possessives", "same_word"] | None = None,
    limits: str | None = None,
    untrained: bool = True,
    as_coded: bool = False,
) -> xr.Dataset:
    """`link_attention[layer, head, relation, direction]`: the mean over sentences of the largest attention of a link.

    For a sentence, the maximum over its links of a relation ("all": over all its links), and over all pairs of a token
    of the source and one of the target, of the attention from one to the other; direction "source_to_target" as in the
    released code (the frame element looks), "target_to_source" as the paper's example has it, and "either".

    The filter of FrameNet's sentences is that of the paper (`limits`); words stand between blanks, where the released
    code has those of NLTK. Of dependency relations "all" has no punctuation.

    `as_coded` pairs the first piece of a source with the first of a target, the second with the second, and so on (with
    a target of one piece, only the first piece of the source counts), and wants a distance of 3. The released code also
    takes as core only the elements of the frame's core sets, and the first occurrence of a piece: that is left out.

    Arguments:

    * `links`: Kind of links (pairs: section 4.5; possessives: owner and 's; same_word: words of the first segment and
      their copies in the second, section 5); by default annotated links, else dependency relations.
    * `limits`: WORDS,SPAN,DISTANCE: most words of a sentence, most words of an end, least distance; 12,3,2 for
      FrameNet, else none.
    * `untrained`: Also measure a model with random weights, as a baseline.
    * `as_coded`: Pair the pieces of both ends one by one, as the released code does.

    Raises `HeadscopeError` if the corpus has no such links, none is left by the limits, or no example fits into the
    model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=12)), links="pairs", untrained=False)
    >>> result["link_attention"].dims, result["relation"].values.tolist()
    (('layer', 'head', 'relation', 'direction'), ['all', 'verb and subject', 'pronoun and noun'])
    """
    texts = _LinkedTexts(corpus, links, limits, as_coded)
    kind, kept, dropped = texts.kind, texts.kept, texts.dropped
    settings.on_total(kept.n_examples * (1 + SEEDS * untrained))
    words = texts.words(model, settings)
    attention, attributes = _measure(texts.planned(model, settings, words))
    relations = attention.by_relation(APART.get(kind, ()))
    split = split_of(attention.input, attention.unit, settings.seed, settings.resamples)
    beside: dict[str, Tally] = {}
    by_seed: dict[int, float] = {}
    for seed in random_seeds(settings, untrained=untrained):
        if "interrupted" in attributes:
            break
        other, more = _measure(texts.planned(random_weights(model, seed), settings, _again(words)))
        rows = other.by_relation(APART.get(kind, ()))
        beside = beside or _tallies(rows, split.draws)
        by_seed[seed] = mean_gain(rows["all"])
        attributes |= {name: value for name, value in more.items() if name == "interrupted"}
    chosen = {name: best(rows, split.draws, split.selection_half) for name, rows in relations.items()}
    variables = to_variables(
        {name: score(rows, split.draws) for name, rows in relations.items()},
        chosen,
        model.capture.heads,
        beside if set(beside) >= set(relations) else None,
        by_seed if "interrupted" not in attributes else None,
    )
    variables |= no_op_variables(
        "relation", no_op(relations, chosen, split.draws, split.selection_half), list(relations)
    )
    together = {name: rows for name, rows in relations.items() if name not in APART.get(kind, ())}
    variables |= zoomed(model, kept, _again(words), picks(together), settings)
    attributes = provenance("relations", model, corpus, settings) | attributes | {"n_links": int(attention.links.sum())}
    attributes["options"] = json.dumps({"links": kind, "limits": str(texts.limits), "as_coded": as_coded})
    attributes["filter"] = json.dumps({"read": corpus.n_examples, "dropped": dropped, "kept": kept.n_examples})
    if rare := len(np.unique(attention.relation)) + 1 - len(relations):
        beyond = f"relations beyond {MOST_RELATIONS}, which are in 'all' only"
        attributes["skipped"] = json.dumps(json.loads(str(attributes["skipped"])) | {beyond: rare})
    return results.check(xr.Dataset(variables, attrs=attributes))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, links: str | None, limits: str | None, as_coded: bool
) -> PlannedPass[list[LinkAttention]] | None:
    """What other studies may read together with this one; None where some examples are left out."""
    texts = _LinkedTexts(corpus, links, limits, as_coded)
    return texts.planned(model, settings, texts.words(model, settings)) if texts.all_kept else None


def random_pass(
    model: Model, corpus: Corpus, settings: Settings, *, links: str | None, limits: str | None, as_coded: bool
) -> PlannedPass[list[LinkAttention]] | None:
    """The first pass with random weights: in a survey the links of a batch are found once for all seeds."""
    texts = _LinkedTexts(corpus, links, limits, as_coded)
    read = (corpus.sha256, corpus.drawn, corpus.n_examples, texts.kind, str(texts.limits), as_coded)
    batches = (model.tokenizer, str(model.device), *settings.as_attributes().values())
    texts.of_batches = shared(("links of batches", *read, *batches), dict[bytes, tuple[Any, ...]])
    return texts.planned(model, settings, texts.words(model, settings)) if texts.all_kept else None


def random_seeds(settings: Settings, *, untrained: bool) -> range:
    """The seeds of the models of random weights that are read after the first pass, in the same way."""
    return range(settings.seed, settings.seed + SEEDS * untrained)


class _LinkedTexts:
    """The examples of a corpus that have links within the limits, and their passes.

    Where no example is dropped, the corpus itself is read: other studies may share its pass.

    Raises `HeadscopeError` if no link is left.
    """

    def __init__(self, corpus: Corpus, links: Any, limits: str | None, as_coded: bool):
        self.corpus, self.as_coded, self.of_batches = corpus, as_coded, dict[bytes, tuple[Any, ...]]()
        self.kind: LinkKind = link_kind(corpus, links)
        self.limits = _limits(corpus, self.kind, limits, as_coded)
        self.kept, self.dropped = linked(corpus, self.kind, self.limits)
        _refuse_nothing(corpus, self.kept, self.limits, self.dropped)
        # Links of the same word may need words of their own.
        self.all_kept = self.kept.n_examples == corpus.n_examples and self.kind != "same_word"

    def words(self, model: Model, settings: Settings) -> Words:
        """The encoder, which has counted what is dropped."""
        return Words(model.tokenizer, model.max_tokens, settings.long, Counter(self.dropped), aligned=True)

    def planned(self, model: Model, settings: Settings, words: Words) -> PlannedPass[list[LinkAttention]]:
        """The pass of a model over the links."""
        relink = partial(relinked, kind=self.kind, limits=self.limits) if self.all_kept else None
        observer = LinkObserver(
            settings.seed, as_coded=self.as_coded, counts=words.counts, relink=relink, links=self.of_batches
        )
        corpus = self.corpus if self.all_kept else self.kept
        return Pass(model, corpus, settings, words).gather(observer)


def _measure(planned: PlannedPass[list[LinkAttention]]) -> tuple[LinkAttention, dict[str, str | int | float]]:
    """Read a corpus. Returns: the attention to its links, and the pass's attributes."""
    result = planned.read()
    attention = LinkAttention.in_order(result.value)
    if not len(attention):
        name = planned.corpus.name
        raise HeadscopeError(
            f"corpus '{name}': none of its links has tokens at both ends; check its words, or use --long window"
        )
    return attention, result.attributes


def _again(words: Words) -> Words:
    """The encoder of a second pass over the same corpus, with counters of its own."""
    return replace(words, counts=Counter())


def _tallies(relations: Mapping[str, LinkAttention], draws: Draws) -> dict[str, Tally]:
    return {name: tally_by_input(with_either(rows.linked), rows.input, draws) for name, rows in relations.items()}


def _limits(corpus: Corpus, kind: LinkKind, limits: str | None, as_coded: bool) -> Limits:
    """Limits by their name; by default those of the paper for frame elements, and none for other links."""
    if limits is not None:
        return parsed(limits)
    frames = kind == "annotated" and of_frames(corpus)
    return (AS_CODED if as_coded else PAPER) if frames else NONE


def _refuse_nothing(corpus: Corpus, kept: Corpus, limit: Limits, dropped: dict[str, int]) -> None:
    if not kept.n_examples:
        why = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise HeadscopeError(
            f"corpus '{corpus.name}': no link is left by the limits {limit} ({why}); widen them with --limits"
        )
