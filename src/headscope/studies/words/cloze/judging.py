"""The sentences of pairs, judged by a classifier of acceptability, alone and together (Warstadt et al. 2019).

Such a classifier is fine-tuned on sentences that people accept or do not, such as those of CoLA.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headscope.corpora import read
from headscope.corpora.suites import ClozeItem
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.passes import Settings
from headscope.studies.words.cloze.item_scores import TIE

# Labels of the class of acceptable sentences, which is the second one unless the first has such a label.
ACCEPTABLE = ("acceptable", "1", "label_1")
Columns = dict[str, Float[np.ndarray, " item"]]


def judgments(name: str, items: Sequence[ClozeItem], settings: Settings) -> Columns:
    """The columns of `judged` of the items that are pairs of sentences; NaN for gaps.

    Raises `HeadscopeError` for a model without two classes, or items without a pair of sentences.
    """
    judge, pairs = load(name, head=True), [item for item in items if _is_pair(item)]
    if not pairs:
        raise HeadscopeError("--judge: no item is a pair of sentences; name a suite that has some, such as blimp")
    texts = [candidate.text for item in pairs for candidate in item.candidates]
    odds = np.split(_log_odds(judge, texts, settings), np.cumsum([len(item.candidates) for item in pairs])[:-1])
    by_pair, at = judged(odds), np.array([_is_pair(item) for item in items])
    columns = {column: np.full(len(items), np.nan) for column in by_pair}
    for column, values in by_pair.items():
        columns[column][at] = values
    return columns


def judged(odds: Sequence[Float[np.ndarray, " text"]]) -> Columns:
    """What is right of each pair, by the log odds, in nats, that its good sentence, then each worse one, is acceptable.

    `judged_pairs`: the good one has the highest odds, a half where it shares them; `judged_both`: the good one alone is
    found acceptable; `judged_sentences`: the mean of whether it is, and of the share of worse ones that are not.

    >>> {name: values.tolist() for name, values in judged([np.array([2.0, 1.0]), np.array([1.0, -1.0])]).items()}
    {'judged_pairs': [1.0, 1.0], 'judged_both': [0.0, 1.0], 'judged_sentences': [0.5, 1.0]}
    """
    leads = np.array([good - max(bad) for good, *bad in odds])
    return {
        "judged_pairs": np.where(np.abs(leads) < TIE, 0.5, leads > 0),
        "judged_both": np.array([float(good > 0 >= max(bad)) for good, *bad in odds]),
        "judged_sentences": np.array([((good > 0) + np.mean(np.array(bad) <= 0)) / 2 for good, *bad in odds]),
    }


def _is_pair(item: ClozeItem) -> bool:
    return bool(item.bad) and not item.good.is_answer


def _log_odds(judge: Model, texts: list[str], settings: Settings) -> Float[np.ndarray, " text"]:
    outputs = logits(judge, encode_for_task(judge, read(texts))[0], settings.quiet)
    if outputs.ndim != 2 or outputs.shape[1] != 2 or not np.isfinite(outputs).all():
        said = f"outputs of shape {outputs.shape[1:]} for a sentence, not two finite ones"
        raise HeadscopeError(f"--judge '{judge.name}': {said}; name a model of two classes that is trained on CoLA")
    first = str(judge.network.config.id2label.get(0, "")).lower()  # type: ignore[union-attr]
    return (outputs[:, 1] - outputs[:, 0]) * (-1 if first in ACCEPTABLE else 1)
