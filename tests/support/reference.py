"""The surface statistics once more, read naively off their definitions: what the measures are tested against.

One unpadded example at a time, whole maps of transformers' eager attention, loops over tokens.
"""

from collections.abc import Callable, Iterable

import numpy as np
import xarray as xr
from scipy import stats
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headscope.linguistics.sentence import Example
from support import reference_frequency as frequency
from support import reference_segments as segments
from support.reference_tokens import RELATIONS, Read, read_example, texts_of

CLASSES = ["cls", "sep", "punct", "other"]
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
FEATURES = ["noun", "verb", "pron", "subj", "obj", "neg", "cls", "sep", "punct"]


def profile(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, examples: Iterable[Example], max_tokens: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each variable's mean over the examples that have it [layer, head, ...], and how many have it [...]."""
    read = [read_example(network, tokenizer, example) for example in examples if fits(tokenizer, example, max_tokens)]
    frequency.count(read)
    unknown = [kind in ("cls", "sep") and kind not in read[0].classes for kind in CLASSES]
    results = {}
    for name, (statistic, _) in STATISTICS.items():
        values = np.array([statistic(example) for example in read])
        if name == "attention_to":
            values[..., unknown] = np.nan
        has = ~np.isnan(values[:, 0, 0])
        mean = np.where(has[:, None, None], values, 0).sum(0) / np.where(has.sum(0), has.sum(0), np.nan)
        results[name] = (mean, has.sum(0))
    return results


def fits(tokenizer: PreTrainedTokenizerBase, example: Example, max_tokens: int) -> bool:
    first, second = texts_of(example)
    return len(tokenizer(first, second, verbose=False)["input_ids"]) <= max_tokens


def differences(result: xr.Dataset, expected: dict[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """The largest difference of each variable; infinite where NaN, a count or a label is not as expected."""
    found = {}
    for name, (mean, count) in expected.items():
        variable, dims = result[name], STATISTICS[name][1]
        ours, same = variable.values, variable.dims == ("layer", "head", *dims)
        same &= all(variable[dim].values.tolist() == labels for dim, labels in dims.items())
        same &= np.array_equal(np.isnan(ours), np.isnan(mean))
        same &= np.array_equal(result[f"{name}_n_examples"].values, count)
        found[name] = float(np.nanmax(abs(ours - mean), initial=0)) if same else np.inf
    return found


def _attention_to(read: Read) -> np.ndarray:
    length = len(read.classes)
    share = np.zeros((*read.maps.shape[:2], len(CLASSES)))
    for i in range(length):
        for j in range(length):
            share[..., CLASSES.index(read.classes[j])] += read.maps[:, :, i, j] / length
    return share


def _sep_to_sep(read: Read) -> np.ndarray:
    separators = read.tokens("sep")
    if not separators:
        return np.full(read.maps.shape[:2], np.nan)
    return np.mean([read.maps[:, :, i, separators].sum(-1) for i in separators], axis=0)


def _attention_offset(read: Read) -> np.ndarray:
    length = len(read.classes)
    columns = []
    for offset in (-1, 0, 1):
        reached = [read.maps[:, :, i, i + offset] for i in range(length) if 0 <= i + offset < length]
        columns.append(np.mean(reached, axis=0) if reached else np.full(read.maps.shape[:2], np.nan))
    return np.stack(columns, axis=-1)


def _entropy_of(row: np.ndarray) -> np.ndarray:
    return -np.where(row > 0, row * np.log(np.where(row > 0, row, 1)), 0).sum(-1)


def _entropy(read: Read) -> np.ndarray:
    return np.mean([_entropy_of(read.maps[:, :, i]) for i in range(len(read.classes))], axis=0)


def _cls_entropy(read: Read) -> np.ndarray:
    first = read.tokens("cls")
    return _entropy_of(read.maps[:, :, first[0]]) if first else np.full(read.maps.shape[:2], np.nan)


def _largest(read: Read, tokens_of: Callable[[str], list], kinds: list[str], at: Callable) -> np.ndarray:
    nothing = np.full(read.maps.shape[:2], np.nan)
    columns = [[at(token) for token in tokens_of(kind)] for kind in kinds]
    return np.stack([np.max(column, axis=0) if column else nothing for column in columns], axis=-1)


def _feature_attention(read: Read) -> np.ndarray:
    return _largest(read, read.having, FEATURES, lambda j: read.maps[:, :, :, j].mean(-1))


def _cls_feature_attention(read: Read) -> np.ndarray:
    first = read.tokens("cls")
    return _largest(read, read.having if first else lambda _: [], FEATURES, lambda j: read.maps[:, :, first[0], j])


def _start_attention(read: Read) -> np.ndarray:
    first = read.tokens("cls")
    mean = read.maps[:, :, :, first[0]].mean(-1) if first else None
    return _largest(read, read.having if first else lambda _: [], FEATURES, lambda j: mean)


def _cls_separator_lead(read: Read) -> np.ndarray:
    found = _cls_feature_attention(read)
    return found[..., [FEATURES.index("sep")]] - found


def _token_attention(read: Read) -> np.ndarray:
    return _largest(read, lambda kind: sorted(read.links[kind]), RELATIONS, lambda pair: read.maps[:, :, *pair])


def _segment_end(read: Read) -> np.ndarray:
    length, special = len(read.classes), ["cls", "sep"]
    ends = [
        token
        for token in range(length)
        if read.classes[token] not in special and (token + 1 == length or read.classes[token + 1] in special)
    ]
    if not ends:
        return np.full(read.maps.shape[:2], np.nan)
    return np.mean([read.maps[:, :, i, ends].sum(-1) for i in range(length)], axis=0)


def _sink_by_part_of_speech(read: Read) -> np.ndarray:
    sink = [*read.tokens("cls"), *read.tokens("sep")] or [0]
    nothing, columns = np.full(read.maps.shape[:2], np.nan), []
    for name in UPOS:
        queries = [token for token in range(len(read.classes)) if name in read.upos.get(token, ())]
        columns.append(np.mean([read.maps[:, :, i, sink].sum(-1) for i in queries], axis=0) if queries else nothing)
    return np.stack(columns, axis=-1)


STATISTICS: dict[str, tuple[Callable[[Read], np.ndarray], dict[str, list]]] = {
    "attention_to": (_attention_to, {"token_class": CLASSES}),
    "sep_to_sep": (_sep_to_sep, {}),
    "attention_offset": (_attention_offset, {"offset": [-1, 0, 1]}),
    "entropy": (_entropy, {}),
    "cls_entropy": (_cls_entropy, {}),
    "feature_attention": (_feature_attention, {"feature": FEATURES}),
    "cls_feature_attention": (_cls_feature_attention, {"feature": FEATURES}),
    "start_attention": (_start_attention, {"feature": FEATURES}),
    "cls_separator_lead": (_cls_separator_lead, {"feature": FEATURES}),
    "token_attention": (_token_attention, {"relation": RELATIONS}),
    "segment_end": (_segment_end, {}),
    "sink_by_part_of_speech": (_sink_by_part_of_speech, {"part_of_speech": UPOS}),
    "same_word": (segments.same_word, {"word_pair": ["copies", "as_far_apart", "from_others"]}),
    "same_word_gain": (segments.same_word_gain, {"baseline": ["as_far_apart", "from_others"]}),
    "frequency_attention": (frequency.attention, {"frequency": frequency.CLASSES}),
    "frequency_correlation": (frequency.correlation, {}),
    "segment_attention": (segments.segment_attention, {"segments": ["same", "different"]}),
}


def levels(units: int) -> tuple[float, float]:
    """The levels of the quantiles that bound a 95% interval of a mean of so few units (Hesterberg 2015, 4.2)."""
    low = float(stats.norm.cdf(np.sqrt(units / (units - 1)) * stats.t.ppf(0.025, units - 1)))
    return low, 1 - low
