"""How much a training changed the attention of each layer, measured at its end."""

from collections.abc import Callable
from typing import Any

import numpy as np
from transformers import TrainerCallback, TrainerState

from headscope import catalog
from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import wrap
from headscope.passes import Settings
from headscope.passes.paired_pass import fold_pairs
from headscope.passes.passes import Pass
from headscope.training.initialisation import InitialModel

EXAMPLES = 100
KEY = "attention_change"
SIMILARITY = "similarity"


class AttentionChange(TrainerCallback):
    """At the end of a training, compares attention with that of the model before it, on a few examples of dev.

    What it finds stands in `state.log_history`.

    * `before`: makes the model before the training, once that is over; `after`: the model that is trained.
    """

    def __init__(
        self,
        before: Callable[[], InitialModel],
        after: InitialModel,
        corpus: Corpus,
        settings: Settings,
        max_tokens: int,
    ):
        self.before, self.after, self.max_tokens = before, after, max_tokens
        self.corpus = part(corpus, np.arange(min(EXAMPLES, corpus.n_examples)))
        self.settings = Settings(seed=settings.seed, batch_tokens=settings.batch_tokens, resamples=1, long="truncate")

    def on_train_end(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Measure; nothing where attention cannot be captured exactly, or the training only pauses."""
        if state.global_step < state.max_steps:
            return
        network = self.after.network
        mixed = vars(network).pop("forward", None)  # accelerate puts it over the network's own
        try:
            state.log_history.append({"step": state.global_step, KEY: self._changes()})  # type: ignore[dict-item]
        except HeadscopeError:
            return
        finally:
            if mixed is not None:
                vars(network)["forward"] = mixed

    def _changes(self) -> list[float]:
        """1 minus the cosine of attention before and after, the mean over the heads of each layer."""
        first, second = (wrap(model.network, model.tokenizer) for model in (self.before(), self.after))
        words = Words(first.tokenizer, min(self.max_tokens, first.max_tokens), self.settings.long)
        reading = Pass(first, self.corpus, self.settings, words)
        result = fold_pairs(reading, [second], {}, {SIMILARITY: catalog.load("measures/comparisons", SIMILARITY)})
        return (1 - result.value[f"layer_{SIMILARITY}"].mean[:, 0]).tolist()


def attention_change(history: list[dict[str, Any]]) -> np.ndarray:
    """What was found, by layer; empty if nothing was."""
    changes = [entry[KEY] for entry in history if KEY in entry]
    return np.array(changes[-1] if changes else [], dtype=np.float32)
