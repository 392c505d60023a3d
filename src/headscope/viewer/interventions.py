"""The predictions of a model on a text, with all heads and without some."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from headscope.ablation.strategies import head_means
from headscope.capture.interventions import Mode
from headscope.corpora import Corpus
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.word_tokens import readable_ids
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.config import attention_shape
from headscope.models.prediction_heads import has_masked_lm_head, is_causal
from headscope.passes.batches import collator
from headscope.viewer.nearest_sentences import SentenceVectors, first_inputs, mean_states, sentence_vectors
from headscope.viewer.text_maps import most_tokens

Kind = Literal["mask", "next", "task", "neighbours"]
Heads = Bool[np.ndarray, "layer head"]
MOST_WORDS_SHOWN = 8


@dataclass(frozen=True)
class Predictions:
    """Predictions with their values, the highest first, under a title such as "[MASK] 1"."""

    title: str
    items: tuple[tuple[str, float], ...]

    @property
    def description(self) -> dict[str, Any]:
        """What the page reads."""
        return {"title": self.title, "items": [{"text": text, "value": value} for text, value in self.items]}


@dataclass(frozen=True, eq=False)
class Interventions:
    """A model whose heads can be disabled, and a corpus of candidates and of the mean output of each head."""

    model: Model
    corpus: Corpus | None = None

    @cached_property
    def kind(self) -> Kind:
        """The predictions of the model: masked words, the next word, classes of a task, or nearest sentences."""
        if has_masked_lm_head(self.model.network):
            return "mask"
        if is_causal(self.model):
            return "next"
        network = type(self.model.network).__name__
        return "task" if network in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values() else "neighbours"

    @property
    def task_labels(self) -> list[str]:
        """The classes of the task, in the order of the outputs; none for another kind."""
        labels: Any = self.model.network.config.id2label if self.kind == "task" else {}
        return [str(labels[number]) for number in sorted(labels)]

    @property
    def description(self) -> dict[str, Any]:
        """The model and what it predicts, as the page reads them."""
        model, mask = self.model, self.kind == "mask"
        return {
            "name": model.name,
            "layers": len(model.capture.heads),
            "heads": list(model.capture.heads),
            "max_tokens": most_tokens(model),
            "predicts": self.kind,
            "can_fill_mask": mask,
            "mask_token": model.tokenizer.mask_token if mask else None,
            "task_labels": self.task_labels,
            **attention_shape(model.network.config, model.capture.heads),
        }

    def predictions(self, text: Encoded) -> list[Predictions]:
        """The predictions on a text: for each masked word, after the text, of the task, or the nearest sentences.

        Raises `HeadscopeError` for a text without a masked word, or outputs that are not finite.
        """
        batch = collator(self.model)([text])
        with torch.inference_mode():
            if self.kind == "neighbours":
                nearest = self._vectors.nearest(mean_states(self.model, batch)[0], MOST_WORDS_SHOWN)
                return [Predictions("nearest sentences", tuple(nearest))]
            makers = {"mask": self._masked, "next": self._next, "task": self._task}
            return makers[self.kind](batch)

    def without(self, text: Encoded, disabled: Heads, mode: Mode = "uniform") -> list[Predictions]:
        """The predictions with some heads disabled; see `Model.changed`.

        Raises `HeadscopeError` as `predictions`, and for "mean" without a corpus.
        """
        _ = self._vectors if self.kind == "neighbours" else None  # the sentences are placed with all heads
        means = self._means if mode == "mean" else None
        with self.model.changed(disabled, mode, means):
            return self.predictions(text)

    @cached_property
    def _inputs(self) -> list[Encoded]:
        if self.corpus is None:
            raise HeadscopeError("nearest sentences and mean outputs need a corpus; name one with --corpus")
        return first_inputs(self.model, self.corpus)

    @cached_property
    def _vectors(self) -> SentenceVectors:
        return sentence_vectors(self.model, self._inputs)

    @cached_property
    def _means(self) -> Float[np.ndarray, "layer head width"]:
        return head_means(self.model, self._inputs)

    def _masked(self, batch: Batch) -> list[Predictions]:
        tokenizer = self.model.tokenizer
        mask: Any = tokenizer.mask_token_id
        masked = batch.inputs["input_ids"][0].eq(mask).nonzero().flatten()
        if not len(masked):
            raise HeadscopeError(
                f"the text has no masked word; write {tokenizer.mask_token} in the text instead of a word"
            )
        logits = self._logits(batch)[masked]
        return [self._words(f"{tokenizer.mask_token} {number + 1}", row) for number, row in enumerate(logits)]

    def _next(self, batch: Batch) -> list[Predictions]:
        """The words that may follow the text, before the tokens that the tokenizer puts after it."""
        ids = batch.inputs["input_ids"][0]
        special = torch.isin(ids, torch.tensor(self.model.tokenizer.all_special_ids, device=ids.device))
        last = int((~special).nonzero()[-1])
        return [self._words("next word", self._logits(batch)[last])]

    def _words(self, title: str, logits: Float[Tensor, " word"]) -> Predictions:
        """The most probable words."""
        best = logits.softmax(-1).topk(min(MOST_WORDS_SHOWN, len(logits)))
        words = readable_ids(self.model.tokenizer, best.indices.tolist())
        return Predictions(title, tuple(zip(words, best.values.tolist(), strict=True)))

    def _task(self, batch: Batch) -> list[Predictions]:
        logits, labels = self._logits(batch), self.task_labels
        if len(logits) == 1:
            return [Predictions("value", ((labels[0], float(logits[0])),))]
        several = self.model.network.config.problem_type == "multi_label_classification"
        probability = logits.sigmoid() if several else logits.softmax(-1)
        items = sorted(zip(labels, probability.tolist(), strict=True), key=lambda item: -item[1])
        return [Predictions("probability of each class", tuple(items))]

    def _logits(self, batch: Batch) -> Float[Tensor, "*token output"]:
        network: Any = self.model.network
        logits = network(**batch.inputs).logits[0].to(torch.float32)
        if not torch.isfinite(logits).all():
            raise HeadscopeError(f"model '{self.model.name}' gives outputs that are not finite; use --dtype float32")
        return logits
