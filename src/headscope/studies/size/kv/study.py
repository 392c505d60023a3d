"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models.config import windows_of
from headscope.models.heads import existing
from headscope.models.prediction_heads import is_causal, no_words, with_words_head
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, Documents, WordsModel
from headscope.ranges import Range
from headscope.results.variables import Variables
from headscope.statistics.bootstrap import Tally
from headscope.studies.size.kv import STUDY
from headscope.studies.size.kv.forgetting import Forgets, KeptKeys, exact_way, key_heads
from headscope.studies.size.kv.plan import CONTEXTS, cache, largest, write
from headscope.studies.size.kv.reading import Reader
from headscope.studies.size.kv.texts import NEEDLE, long_texts, planted
from headscope.studies.size.kv.variables import HalvedTexts, judgement

LOSS, RIGHT = 0, 1  # columns of the scores of a text
# Numbers with all keys, and of each KV head: of the texts, then of the needles.
PLAIN, RISES = ("loss", "needle_loss", "needle_accuracy"), ("loss_rise", "needle_rise")


def run(  # noqa: PLR0913 (each is an option of the command)
    model: WordsModel,
    corpus: Documents,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    sinks: Annotated[int, Range(0, 10_000)] = 4,
    window: Annotated[int, Range(1, 1_000_000)] = 64,
    length: Annotated[int, Range(1, 1_000_000)] = 1024,
    texts: Annotated[int, Range(1, 100_000)] = 24,
    bound: Annotated[float, Range(0, 100)] = 0.02,
    by: Literal["loss", "far_attention"] = "loss",
    needles: bool = True,
) -> xr.Dataset:
    """Let each KV head see the first tokens and a window alone, and measure the loss of the next word.

    All query heads that share the KV head see only these keys, other KV heads see all. The plan lets the KV heads
    forget that cost least, as many as one half of the texts allows: the rise of the loss stays below the bound with
    its 95% interval. The other half judges it. The plan is written to `plan.json`, and for DuoAttention to
    `duo_attention`. Layers that see no more than the window are not tested.

    Arguments:

    * `model`: Decoder to measure.
    * `corpus`: Long texts to read; a document is a text.
    * `directory`: Folder of the result.
    * `sinks`: Number of first tokens that a KV head keeps.
    * `window`: Number of last tokens that a KV head keeps, the token itself included.
    * `length`: Largest number of tokens in a text.
    * `texts`: Number of texts: the first that are long enough.
    * `bound`: Largest rise of the loss that the plan may cost, in nats a token.
    * `by`: Order in which KV heads may forget: by the rise of the loss for each, or by attention far back, which takes
      one pass instead of one for each KV head.
    * `needles`: Also plant random tokens far back that have to be recalled.

    Raises `HeadscopeError` for a model that does not predict the next word, keys that are not each layer's own, and a
    corpus without a long text.
    """
    model = with_words_head(model)
    if not is_causal(model):
        reason = no_words(model).partition(";")[0] or "it predicts masked words and keeps no keys of earlier ones"
        raise HeadscopeError(f"model '{model.name}': {reason}; only a decoder has keys to forget: name one")
    heads, kept, longest = key_heads(model), KeptKeys(sinks, window), min(length, model.max_tokens)
    read, skipped = long_texts(model, corpus, longest, max(sinks, 1) + window + 2 * NEEDLE, texts)
    asked = [read, *([planted(read, sinks, window, settings.seed)] if needles else [])]
    seen = windows_of(model.network.config, len(heads.number)) + 1  # the token itself, too
    there = existing(heads.number)
    tested, sample = there & (seen > window)[:, None], HalvedTexts(len(read), settings)
    indices = np.argwhere(tested)
    searches = len(indices).bit_length() * int(sample.choosing.sum()) if sample.are_judged else 0
    passes = 1 + sample.are_judged + (len(indices) if by == "loss" else 0)
    settings.on_total(passes * sum(map(len, asked)) + searches)

    reader = Reader(model, exact_way(model, heads), kept, settings)
    variables = Variables({"context": CONTEXTS}, STUDY.source, STUDY.labels, resampled="texts")
    plain = [reader.scores(part, heads.none) for part in asked]
    choosing = [text for text, chooses in zip(read, sample.choosing, strict=True) if chooses]
    far = reader.far_attention(choosing, heads)
    costs = far[tested]
    for name, scores, column in zip(PLAIN, [plain[0], *2 * plain[1:]], (LOSS, LOSS, RIGHT), strict=False):
        sample.add(variables, name, scores[:, [column]])
    if by == "loss" and len(indices):
        alone = [[reader.scores(part, heads.one(index))[:, LOSS] for part in asked] for index in indices]
        rises = [np.stack(part, axis=1) for part in zip(*alone, strict=True)]
        for name, rise, scores in zip(RISES, rises, plain, strict=False):
            sample.add(variables, name, rise - scores[:, [LOSS]], tested)
        costs = rises[0][sample.choosing].mean(0)
    variables.add("far_attention", far)
    variables.add("cache", cache(heads, seen, heads.none, kept))
    options = {"sinks": sinks, "window": window, "length": longest, "bound": bound, "by": by}
    if sample.are_judged:
        quiet, before = replace(reader, settings=settings.quiet), plain[0][sample.choosing][:, [LOSS]]

        def rise_of(forgets: Forgets) -> Tally:
            return sample.mean(quiet.scores(choosing, forgets)[:, [LOSS]] - before, sample.choosing)

        forgets = largest(indices[np.argsort(costs, kind="stable")], heads.none, bound, rise_of)
        settings.on_progress(searches)
        changes = [reader.scores(part, forgets) - scores for part, scores in zip(asked, plain, strict=True)]
        variables.add("plan_chosen_rise", changes[0][sample.choosing, LOSS].mean())
        judged = [change[~sample.choosing] for change in changes]
        sample.add(variables, "plan_rise", judged[0][:, [LOSS]])
        for change in judged[1:]:
            sample.add(variables, "plan_needle_fall", -change[:, [RIGHT]])
        variables.add("forgets", np.where(there, forgets, np.nan))
        variables.add("plan_cache", cache(heads, seen, forgets, kept))
        write(directory, options | {"model": model.name} | judgement(variables), forgets, there)
    attributes = provenance("kv", model, corpus, settings) | {
        "options": json.dumps(options),
        "resampled": f"{len(read)} texts",
        "n_examples": len(read),
        "n_tokens": sum(len(text.ids) for text in read),
        "skipped": json.dumps(skipped),
    }
    return results.check(xr.Dataset(variables.arrays, attrs=attributes))
