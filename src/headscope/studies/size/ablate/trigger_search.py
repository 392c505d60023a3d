"""A search by gradients for words before texts of a class that raise the loss of its answers.

Wallace, Feng et al. 2019, section 2: of the words that raise the loss most, to first order in their embeddings, the
best is kept, place after place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.corpora.parsing.words import between_blanks
from headscope.corpora.tasks import Task, score
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Sentence
from headscope.models import Model
from headscope.outputs.gradient_importance import frozen, refuse_infinite
from headscope.outputs.losses import losses
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import Settings
from headscope.passes.batches import batches

# Words whose loss is computed at a position, and rounds over all places.
TRIED, ROUNDS = 20, 3
# Numbers of words in `WholePieces`.
Trigger = Sequence[int]


@dataclass(frozen=True)
class WholePieces:
    """Words of letters that are one piece each, whatever stands beside them.

    * `first`: their pieces where a text begins, and `later`: after a word; the same in most vocabularies.
    """

    words: Sequence[str]
    first: Int[np.ndarray, " word"]
    later: Int[np.ndarray, " word"]


def whole_pieces(tokenizer: PreTrainedTokenizerBase) -> WholePieces:
    """The whole words of a vocabulary that are read as one piece again; special and unused pieces are none.

    >>> from headscope import load
    >>> pieces = whole_pieces(load("minilm").tokenizer)
    >>> "cat" in pieces.words, "unused" in pieces.words, "[MASK]" in pieces.words
    (True, True, False)
    """
    decoded = tokenizer.batch_decode([[piece] for piece in range(len(tokenizer))])
    words = [word for word in dict.fromkeys(map(str.strip, decoded)) if word.isalpha()]
    alone, between = (
        tokenizer([form.format(word) for word in words], add_special_tokens=False, verbose=False)["input_ids"]
        for form in ("{}", "a {} a")
    )
    kept, special = [], set(tokenizer.all_special_ids)
    for word, single, three in zip(words, alone, between, strict=True):
        if (len(single), len(three)) == (1, 3) and special.isdisjoint((*single, *three)):
            kept.append((word, single[0], three[1]))
    names, first, later = zip(*kept, strict=True) if kept else ((), (), ())
    return WholePieces(names, np.array(first, dtype=int), np.array(later, dtype=int))


def with_words(example: Example, words: Sequence[str]) -> Example:
    """The example with words before its text, of a pair before the second one."""
    text = " ".join(words)
    trigger = Sentence(text, between_blanks(text), document=example.document)
    if example.second:
        return replace(example, second=(trigger, *example.second))
    return replace(example, first=(trigger, *example.first))


@dataclass(frozen=True)
class ClassTexts:
    """Texts of one class, before which words are put; `label`: the number of the class in the outputs."""

    model: Model
    task: Task
    examples: Sequence[Example]
    label: int
    pieces: WholePieces
    settings: Settings

    def outputs(self, triggers: Sequence[Trigger]) -> Float[np.ndarray, "trigger example output"]:
        """The outputs with each trigger before each text."""
        read = [example for trigger in triggers for example in self._with(trigger)]
        corpus = Corpus(self.task.name, "", len(read), {}, partial(iter, read))
        outputs = task_outputs(task_inputs(self.model, self.task, corpus), self.settings.quiet)
        return outputs.reshape(len(triggers), len(self.examples), -1)

    def losses(self, triggers: Sequence[Trigger]) -> Float[np.ndarray, " trigger"]:
        """The mean cross entropy of the class with each trigger, in nats."""
        return score("cross_entropy", self.outputs(triggers), np.full(len(self.examples), float(self.label)))

    def first_order(self, trigger: Trigger, position: int) -> Float[np.ndarray, " word"]:
        """By how much the mean loss rises with each word at a position, to first order in its embedding, in nats."""
        table: Any = self.model.network.get_input_embeddings()
        ids = torch.from_numpy(self.pieces.later if position else self.pieces.first).to(self.model.device)
        with torch.no_grad():
            vectors = table(ids).double()
        rises = (vectors - vectors[trigger[position]]) @ self._gradient(table, trigger, position)
        return (rises / len(self.examples)).cpu().numpy()

    def _gradient(self, table: Any, trigger: Trigger, position: int) -> Float[Tensor, " width"]:
        """The gradient of the sum of losses in the embedding of the trigger's word at a position."""
        model, kept = self.model, list[Tensor]()

        def keep(module: Any, inputs: Any, output: Tensor) -> Tensor:
            kept[:] = [output.detach().requires_grad_()]
            return kept[0]

        read = list(Words(model.tokenizer, model.max_tokens, "truncate", aligned=True).encode(self._with(trigger)))
        gradient = torch.zeros(table.weight.shape[1], dtype=torch.float64, device=model.device)
        with frozen(model.network), table.register_forward_hook(keep):
            for batch in batches(model, read, self.settings):
                logits = model.network(**batch.inputs).logits
                loss = losses("classification", logits, torch.full((len(logits),), self.label, device=logits.device))
                refuse_infinite(loss, batch, model)
                (gradients,) = torch.autograd.grad(loss.sum(), kept)
                for row, index in enumerate(batch.index.tolist()):
                    gradient += gradients[row, self._token(read[index].pieces, index, position)].double()
        return gradient

    def _token(self, pieces: Int[np.ndarray, "piece_row 2"], index: int, position: int) -> int:
        """The token of the trigger's word at a position; words of a first segment stand before it."""
        example = self.examples[index]
        word = position + (sum(len(sentence.words) for sentence in example.first) if example.second else 0)
        return int(pieces[pieces[:, 0] == word, 1][0])

    def _with(self, trigger: Trigger) -> list[Example]:
        words = [self.pieces.words[number] for number in trigger]
        return [with_words(example, words) for example in self.examples]


def searched(texts: ClassTexts, start: Trigger) -> Trigger:
    """The words of the highest loss: at each position the best of those that raise it most to first order."""
    best, highest = list(start), float(texts.losses([start])[0])
    for _ in range(ROUNDS):
        last = best
        for position in range(len(best)):
            order = np.argsort(-texts.first_order(best, position), kind="stable")[:TRIED]
            tried = [[*best[:position], number, *best[position + 1 :]] for number in order.tolist()]
            values = texts.losses(tried)
            if values.max() > highest:
                best, highest = tried[int(values.argmax())], float(values.max())
        if best == last:
            break
    return best
