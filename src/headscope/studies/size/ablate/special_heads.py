"""Heads that other results mark, disabled together, against equally many random heads of the same layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Bool

from headscope import results
from headscope.errors import HeadscopeError, suggest
from headscope.models.heads import existing
from headscope.report.kinds import NAMES, where_true
from headscope.report.parts import HeadKind
from headscope.report.study_page import study_page
from headscope.results.variables import PAIRED, Count, Variables
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.size.ablate import SOURCES, STUDY
from headscope.studies.size.ablate.gains import Gains

Heads = Bool[np.ndarray, "layer head"]
# Of a result of relations: its heads above the 99th percentile, which the paper takes (section 4.2).
HIGHEST = "highest"
KINDS = NAMES | {HIGHEST: HIGHEST}


@dataclass(frozen=True)
class SpecialHeads:
    """The heads that a result marks, and random ones in their place.

    * `name`: of the result; `heads`: its heads; `random`: as many of each layer, once for each draw.
    """

    name: str
    heads: Heads
    random: tuple[Heads, ...]

    @property
    def sets(self) -> list[Heads]:
        """All sets that are disabled: the special heads first."""
        return [self.heads, *self.random]


def special_heads(folders: Sequence[str], counts: tuple[int, ...], draws: int, seed: int) -> list[SpecialHeads]:
    """The special heads of the results in some folders.

    * `folders`: each with `:KIND` after it if heads of one kind are meant (`out/profile:same_word`); of a result of
      relations also `:highest`.
    * `counts`: the number of heads of each layer of the model; `draws`: how many random sets there are for each result.

    Raises `HeadscopeError` for a result that marks no head, for an unknown kind, and for a result of a model with other
    heads.
    """
    special: list[SpecialHeads] = []
    for number, folder in enumerate(dict.fromkeys(folders)):
        path, kind = _with_kind(folder)
        result = results.read(path)
        heads = _marked(result, folder, kind, counts)
        name = str(result.attrs["study"]) + (f": {KINDS[kind]}" if kind else "")
        name = f"{name} ({Path(path).name})" if name in (other.name for other in special) else name
        random = np.random.default_rng([seed, number])
        special.append(SpecialHeads(name, heads, tuple(_drawn(heads, counts, random) for _ in range(draws))))
    return special


def _with_kind(folder: str) -> tuple[str, str]:
    """A folder, and the kind of heads that is named after it, or "".

    Raises `HeadscopeError` with near-miss names if there is no such kind.
    """
    path, colon, kind = folder.rpartition(":")
    if not colon or "/" in kind or Path(folder).exists():  # hf://USER/NAME names no kind
        return folder, ""
    kind = kind.strip().replace(" ", "_")
    if kind not in KINDS:
        raise HeadscopeError(f"no folder '{folder}', and no kind of heads '{kind}'; {suggest(kind, KINDS)}")
    return path, kind


def _marked(result: xr.Dataset, folder: str, kind: str, counts: tuple[int, ...]) -> Heads:
    """The heads that the page of a result gives a kind, or this kind."""
    there, heads = existing(counts), np.zeros((len(counts), max(counts)), dtype=bool)
    for marked in _highest(result, folder) if kind == HIGHEST else study_page(result).kinds():
        if kind not in ("", marked.kind):
            continue
        layer, head = marked.layer - 1, marked.head - 1
        if layer >= len(there) or head >= there.shape[1] or not there[layer, head]:
            raise HeadscopeError(
                f"result '{folder}' marks head {marked.layer}-{marked.head}, which the model does not have; "
                "name a result of a model with the same heads"
            )
        heads[layer, head] = True
    if not heads.any():
        study, marks = result.attrs["study"], NAMES[kind] if kind else "special"
        highest = f", or name '{folder}:{HIGHEST}'" if not kind and "percentile" in result else ""
        raise HeadscopeError(
            f"result '{folder}' of {study} marks no head as {marks}; leave it out of --heads-of{highest}"
        )
    return heads


def _highest(result: xr.Dataset, folder: str) -> list[HeadKind]:
    """The heads whose attention along links is above the 99th percentile of all heads, whether or not it is special."""
    if "percentile" not in result:
        study = result.attrs["study"]
        raise HeadscopeError(f"result '{folder}' of {study} has no {HIGHEST} heads; name one of relations")
    links = {"relation": "all", "direction": "source_to_target"}
    above = result["link_attention"].sel(links) > result["percentile"].sel(links)
    return where_true(above, HIGHEST, HIGHEST)


def _drawn(heads: Heads, counts: tuple[int, ...], random: np.random.Generator) -> Heads:
    """As many heads of each layer, drawn among all of its heads."""
    drawn = np.zeros_like(heads)
    for layer, number in enumerate(counts):
        drawn[layer, random.permutation(number)[: heads[layer].sum()]] = True
    return drawn


def variables(special: Sequence[SpecialHeads], gains: Gains) -> dict[str, xr.DataArray]:
    """What the score loses without the special heads of each result, and without random ones.

    * `gains`: of the sets of all results, one after the other.
    """
    coords = {"head_source": [marked.name for marked in special], "metric": gains.metrics}
    added = Variables(coords, STUDY.source, STUDY.labels, **PAIRED)
    size = len(special[0].sets)
    values = gains.gains.reshape(len(special), size, -1)  # [source, set, metric]
    resampled = gains.resampled_gains.reshape(len(gains.resampled_gains), len(special), size, -1)
    own, random = values[:, 0], values[:, 1:].mean(1)
    own_resampled, random_resampled = resampled[:, :, 0], resampled[:, :, 1:].mean(2)
    count = Count(np.full(own.shape, len(gains.targets)), "examples of the score", "examples", SOURCES)
    added.add("special_heads", [int(marked.heads.sum()) for marked in special])
    for name, value, draws in (
        ("special_gain", own, own_resampled),
        ("special_random_gain", random, random_resampled),
        ("special_lead", random - own, random_resampled - own_resampled),
    ):
        added.add(name, value, interval=interval(draws, equal_units(gains.units)), count=count)
    p = (1 + (values[:, 1:] <= own[:, None] + 1e-12).sum(1)) / size
    added.add("special_p_value", p)
    added.add("special_q_value", np.stack([benjamini_hochberg(column) for column in p.T], axis=-1))
    return added.arrays
