"""What the heads of one model do on several corpora, such as treebanks of several languages: as one result, by kind.

Kovaleva et al. 2019, section 6; Rogers et al. 2020, section 8: whether heads do the same in other languages is open.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.kinds import ATTENTION, COLOURS, MIXED, head_kinds
from headscope.report.study_page import study_page
from headscope.results.variables import Variables
from headscope.study import Number, by_name
from headscope.version import __version__

STUDY = "corpora"
OF_HEADS = {"layer", "head"}
BESIDE = ("", "_ci", "_n_examples")


def join_corpora(parts: Iterable[xr.Dataset]) -> xr.Dataset:
    """What heads do on several corpora, as one result with the dimension `corpus` (Kovaleva et al. 2019, section 6).

    It has all numbers of heads that the results have of all corpora, and the variables of `kinds_by_corpus`:
    `same_kind`, the share of heads that keep their main kind, with its interval over heads, beside `same_kind_chance`;
    `kind` is a coordinate. A label that a corpus lacks, such as a relation, is NaN there. A variable that two studies
    have has the name of the second one before its own.

    * `parts`: results of one model, of any studies. Compared are the corpora of the study that was run on most, by all
      studies that were run on these.

    Raises `HeadscopeError` if they are of several models, or no study was run on two corpora.

    >>> import headscope
    >>> texts = {"dogs": ["The dog barked."], "rain": ["It rained a lot."]}
    >>> runs = [headscope.profile("minilm", text).assign_attrs(corpus=name) for name, text in texts.items()]
    >>> joined = headscope.join_corpora(runs)
    >>> joined["entropy"].dims, joined["corpus"].values.tolist()
    (('corpus', 'layer', 'head'), ['dogs', 'rain'])
    """
    parts = list(parts)
    if len(models := {str(result.attrs["model_sha256"]) or str(result.attrs["model"]) for result in parts}) > 1:
        raise HeadscopeError(f"the results are of {len(models)} models; name those of one model")
    _refuse_other_heads(parts)
    kinds = kinds_by_corpus(parts)
    if kinds is None:
        raise HeadscopeError("no study was run on two corpora; run one, such as profile, on another corpus too")
    compared = [result for result in parts if result.attrs["corpus"] in kinds["corpus"].values]
    by_corpus = comparable(compared, of_heads)
    joined = dict(_numbers(by_corpus))
    kinds = kinds.assign(kind=kinds["kind"].astype(str))
    merged = xr.merge([*joined.values(), kinds], join="outer", compat="no_conflicts", combine_attrs="override")
    merged.attrs = _attributes(by_corpus) | {"studies": kinds.attrs["studies"]}
    # Counts of labels that a corpus lacks are NaN, and no integers as they were stored.
    return results.check(merged.set_coords("kind").drop_encoding())


def _refuse_other_heads(parts: Sequence[xr.Dataset]) -> None:
    """Raise `HeadscopeError` for results of one study that have other layers or heads."""
    seen: dict[str, tuple[str, list[Any]]] = {}
    for result in parts:
        if set(result.dims) >= OF_HEADS:
            corpus, labels = str(result.attrs["corpus"]), [result[dim].values.tolist() for dim in sorted(OF_HEADS)]
            first, expected = seen.setdefault(str(result.attrs["study"]), (corpus, labels))
            if labels != expected:
                raise HeadscopeError(
                    f"the {result.attrs['study']} of '{corpus}' has other layers or heads than that of '{first}'; "
                    "join whole results"
                )


def _numbers(by_corpus: Mapping[str, Sequence[xr.Dataset]]) -> Iterator[tuple[str, xr.DataArray]]:
    """The numbers of heads that all corpora have, with their intervals and numbers of examples, by their names."""
    taken = set[str]()
    for parts in zip(*by_corpus.values(), strict=True):
        for name in (str(name) for name in results.means(parts[0]) if _of_heads(parts, str(name))):
            prefix = f"{parts[0].attrs['study']}_" if name in taken else ""
            taken.add(name)
            for end in BESIDE:
                if all(name + end in part for part in parts):
                    arrays = [part[name + end].reset_coords(drop=True) for part in parts]
                    corpora = xr.Variable("corpus", list(by_corpus))
                    array = xr.concat(arrays, corpora, join="outer", combine_attrs="override")
                    yield prefix + name + end, array.rename(prefix + name + end)


def _of_heads(parts: Sequence[xr.Dataset], name: str) -> bool:
    """Whether all results have numbers of heads of this name, along the same dimensions."""
    there = all(name in part and part[name].dtype.kind in "fiu" for part in parts)
    return there and set(parts[0][name].dims) >= OF_HEADS and len({part[name].dims for part in parts}) == 1


def _attributes(by_corpus: Mapping[str, Sequence[xr.Dataset]]) -> dict[str, Any]:
    """The attributes of the joined result: one model, all corpora, and what the first study read of them."""
    first = [parts[0].attrs for parts in by_corpus.values()]
    hashes = "".join(str(attributes["corpus_sha256"]) for attributes in first)
    same = {
        name: first[0][name] for name in ("model", "model_sha256", "model_type", "model_revision") if name in first[0]
    }
    counts = {name: sum(int(attributes[name]) for attributes in first) for name in ("n_examples", "n_tokens")}
    corpora = {"corpus": ", ".join(by_corpus), "corpus_sha256": sha256(hashes.encode()).hexdigest()}
    return {"study": STUDY, "headscope_version": __version__} | same | corpora | counts


SOURCE = "Kovaleva et al. 2019, section 6"
HEADS = "share of heads"
NUMBERS = (
    Number("kind", "main kind of each head on each corpus", "kind", ("corpus", "layer", "head")),
    Number("same_kind", "share of heads that have the same main kind on all corpora", HEADS),
    Number("same_kind_chance", "the same if the kinds of each corpus were dealt to the heads at random", HEADS),
    Number("kept_kind", "of the heads with a kind on any corpus, the share with it on all", HEADS, ("kind_name",)),
)


def kinds_by_corpus(results: Iterable[xr.Dataset]) -> xr.Dataset | None:
    """The main kind of each head by corpus, from results of one model; None where no two corpora can be compared.

    A head's main kind is the most specific one of the atlas; "mixed" is one, too. Compared are the corpora of the study
    that was run on most of them, by all studies that were run on each of these.

    * `results`: those of one model, of any studies and corpora.
    * `kind[corpus, layer, head]`: "" for a head that is not there.
    * `same_kind`: the share of heads with the same kind on all corpora, with Wilson's interval over heads;
      `same_kind_chance`: the share to be expected if each corpus had its kinds at other heads.
    * `kept_kind[kind_name]`: of the heads that have a kind as the main one on any corpus, the share that has it on all.
    """
    by_corpus = comparable(results)
    if not by_corpus:
        return None
    some = next(iter(by_corpus.values()))
    axes = {dim: sorted({int(label) for result in some for label in result[dim].values}) for dim in ("layer", "head")}
    kind = np.stack([_main_kinds(results, axes) for results in by_corpus.values()])
    there, same = kind[0] != "", (kind == kind[0]).all(0) & (kind[0] != "")
    names = [name for name in COLOURS if (kind == name).any()]
    variables = Variables(
        {"corpus": list(by_corpus), "kind_name": names, **axes}, SOURCE, by_name(NUMBERS), cases="heads behind"
    )
    variables.add("kind", kind)
    variables.add("same_kind", same.sum() / there.sum(), interval=_wilson(same.sum(), there.sum()), count=there.sum())
    shares = np.array([[(kinds_of_heads[there] == name).mean() for name in names] for kinds_of_heads in kind])
    variables.add("same_kind_chance", shares.prod(0).sum())
    counts = [(int((same & (kind[0] == name)).sum()), int((kind == name).any(0).sum())) for name in names]
    kept = [number / heads for number, heads in counts]
    variables.add("kept_kind", kept, interval=[_wilson(*count) for count in counts])
    attributes = {"model": some[0].attrs["model"], "studies": ", ".join(result.attrs["study"] for result in some)}
    return xr.Dataset(variables.arrays, attrs=attributes)


def comparable(
    results: Iterable[xr.Dataset], counts: Callable[[xr.Dataset], bool] | None = None
) -> Mapping[str, Sequence[xr.Dataset]]:
    """For each corpus that can be compared its results, of the same studies in the same order; none for one corpus."""
    counts = counts or _says_kinds
    by_study: dict[str, dict[str, xr.Dataset]] = defaultdict(dict)
    for result in results:
        if counts(result):
            by_study[str(result.attrs["corpus"])].setdefault(str(result.attrs["study"]), result)
    corpora_of = defaultdict[str, list[str]](list)
    for corpus, studies in by_study.items():
        for study in studies:
            corpora_of[study].append(corpus)
    corpora = max(corpora_of.values(), key=len, default=[])
    if len(corpora) < 2:
        return {}
    common = [study for study, by_corpus in corpora_of.items() if set(corpora) <= set(by_corpus)]
    return {corpus: [by_study[corpus][study] for study in common] for corpus in corpora}


def _says_kinds(result: xr.Dataset) -> bool:
    """Whether the study of a result of one corpus and one model can give heads a kind, be it that none has one here."""
    return of_heads(result) and (not ATTENTION.isdisjoint(result) or study_page(result).has_kinds())


def of_heads(result: xr.Dataset) -> bool:
    """Whether a result is of the heads of one model on one corpus."""
    dims = set(result.dims)
    return "compared" not in result.attrs and not {"task", "corpus"} & dims and {"layer", "head"} <= dims


def _main_kinds(results: Sequence[xr.Dataset], axes: Mapping[str, list[int]]) -> np.ndarray:
    """The main kind of each head [layer, head]."""
    kinds, first = head_kinds(results), results[0]
    arrays = [array for array in first.data_vars.values() if {"layer", "head"} <= set(array.dims)]
    there = xr.concat(
        [array.notnull().any([dim for dim in array.dims if dim not in axes]) for array in arrays], "variable"
    ).any("variable")
    return np.array(
        [
            [
                ""
                if not bool(there.sel(layer=layer, head=head))
                else (kinds[layer, head][0].kind if (layer, head) in kinds else MIXED)
                for head in axes["head"]
            ]
            for layer in axes["layer"]
        ]
    )


def _wilson(count: int, total: int) -> list[float]:
    bounds = binomtest(int(count), int(total)).proportion_ci(method="wilson")
    return [bounds.low, bounds.high]
