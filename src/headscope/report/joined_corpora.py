"""The results of one model on several corpora, such as treebanks of several languages, as one result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.kinds_by_corpus import comparable, kinds_by_corpus, of_heads
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
