"""Observer of attention between words: the heads that point at the syntactic head of each word.

Clark et al. 2019, section 4.2. A head of a model predicts, for a word i, the word j of its sentence with the largest
W[i, j] ("dependent to head": the word looks at its head) or the largest W[j, i] ("head to dependent": it is looked at
most by its head), where W is attention between words, its diagonal left out. Words that are equally large share the
prediction.
"""

from collections import Counter
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.linguistics.dependencies import ROOT, Dependency, dependencies_of, sentence_numbers
from headscope.passes.observing import RowsObserver
from headscope.studies.heads.syntax.scores import HeadPredictions

# Rounding of sums over tokens, as a share of attention: what differs by less is equal.
ROUNDING = 1e-6
Between = Float[Tensor, "example head word word"]
Candidates = Bool[Tensor, "example 1 word word"]
Heads = Int[Tensor, "example word"]
Equals = UInt8[Tensor, "example head word direction"]


class DependencyObserver(RowsObserver):
    """Keep, of the attention of a batch, whether each head predicts the syntactic head of a word, and its sink's share.

    * `subtypes`: whether relations keep their subtypes.
    * `as_coded`: attention from a word is that of its first token, as in the released code, not the mean over them; of
      equally large words the first is predicted.
    * `counts`: number of words left out, because they or their heads have no token in the input.
    """

    def __init__(self, *, subtypes: bool = False, as_coded: bool = False, counts: Counter[str] | None = None):
        self.subtypes, self.as_coded = subtypes, as_coded
        self.counts = Counter() if counts is None else counts

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare the words of this one."""
        self.batch, self.equals = batch, BlockParts(batch.real.shape[1], self._count)
        self.sink, self.at_sink = BlockParts(batch.real.shape[1]), batch.sink[:, None, :, None]
        self.candidates = _candidates(batch)
        self.words = self._with_tokens(batch)
        self.syntactic_heads = torch.full(batch.has_token.shape, ROOT, device=batch.real.device)
        rows = _rows(self.words, batch.real.device)
        self.syntactic_heads[rows] = torch.tensor(
            [word.head for word in chain(*self.words)], dtype=torch.long, device=batch.real.device
        )

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`; words are counted as soon as all queries of some examples are there."""
        between = rows.from_words(self.batch.first_of_pieces) if self.as_coded else rows.between_words
        self.equals.add(layer, rows, between)
        to_sink = rows.attention @ self.at_sink[rows.examples, :, rows.keys or slice(None)]  # [example, head, query, 1]
        from_words = self.batch.mean_of_pieces[rows.examples, None, :, rows.queries]
        self.sink.add(layer, rows, (from_words @ to_sink)[..., 0])

    def _count(self, between: Between, rows: Rows) -> Equals:
        count = _first if self.as_coded else _equals
        return count(between, self.candidates[rows.examples, None], self.syntactic_heads[rows.examples])

    def finish(self) -> HeadPredictions:
        """The predictions about the words of the batch."""
        example, word = _rows(self.words, self.batch.real.device)
        equals = self.equals.joined()[example, :, word]
        words = list(chain(*self.words))
        numbers = np.array([word[:4] for word in words], dtype=np.int64).reshape(-1, 4)  # [word, field]
        inputs = example.cpu().numpy()
        return HeadPredictions(
            input=self.batch.index.numpy()[inputs],
            unit=self.batch.unit.numpy()[inputs],
            word=numbers[:, 0],
            position=numbers[:, 2],
            head=np.array([word.head_position for word in words], dtype=np.int64),
            length=numbers[:, 3],
            relation=np.array([word.relation for word in words], dtype=str),
            equals=equals.cpu().numpy(),
            tokens=self.batch.sum_of_pieces.sum(1)[example, word].to(torch.int64).cpu().numpy(),
            sink=self.sink.joined()[example, :, word].to(torch.float16).cpu().numpy(),
        )

    def _with_tokens(self, batch: Batch) -> list[list[Dependency]]:
        """The words of each example that have a token, and whose head has one."""
        kept = []
        for example, has_token in zip(batch.examples, batch.has_token.tolist(), strict=True):
            words = [word for word in dependencies_of(example, self.subtypes) if has_token[word.word]]
            kept.append([word for word in words if word.head == ROOT or has_token[word.head]])
            if cut_off := len(words) - len(kept[-1]):
                self.counts["words whose head has no token"] += cut_off
        return kept


def _first(between: Between, candidates: Candidates, heads: Heads) -> Equals:
    """1 where a head of the model predicts the syntactic head; of equally large words the first."""
    allowed = between.masked_fill(~candidates, -1)
    # Several times faster on a CPU than argmax.
    largest = torch.stack([allowed.max(-1).indices, allowed.max(-2).indices], dim=-1)
    return (largest == heads[:, None, :, None]).to(torch.uint8)


def _equals(between: Between, candidates: Candidates, heads: Heads) -> Equals:
    """How many words are as large as the syntactic head, itself one of them; 0 where another word is larger."""
    index, has_head = heads.clamp_min(0)[:, None], (heads != ROOT)[:, None]
    is_head = torch.zeros_like(candidates).scatter_(-1, index[..., None], has_head[..., None])
    counts = []
    for dim, others in ((-1, candidates & ~is_head), (-2, candidates & ~is_head.mT)):
        expanded = index.unsqueeze(dim).expand(-1, between.shape[1], *index.unsqueeze(dim).shape[2:])
        chosen = between.gather(dim, expanded).squeeze(dim)  # [example, head, word]
        allowed = between.masked_fill(~others, -1)
        other = allowed.amax(dim)
        right = (chosen >= other * (1 - ROUNDING)) & has_head
        count, tied = right.to(torch.uint8), right & (other >= chosen * (1 - ROUNDING))
        if tied.any():
            rows = (allowed if dim == -1 else allowed.mT)[tied]  # [tie, word]
            least = torch.maximum(chosen, other)[tied] * (1 - ROUNDING)
            count[tied] += (rows >= least[:, None]).sum(-1).clamp_max(254).to(torch.uint8)
        counts.append(count)
    return torch.stack(counts, dim=-1)


def _candidates(batch: Batch) -> Bool[Tensor, "example word word"]:
    """Mask of the pairs of words that may be linked: two words of a sentence, each with a token."""
    words = batch.has_token.shape[1]
    numbers = [[*sentence_numbers(example), *[-1] * (words - example.n_words)] for example in batch.examples]
    sentence = torch.tensor(numbers, device=batch.real.device).reshape(-1, words)  # [example, word]
    same = (sentence[:, :, None] == sentence[:, None]) & batch.has_token[:, None] & batch.has_token[:, :, None]
    return same & ~torch.eye(words, dtype=torch.bool, device=batch.real.device)


def _rows(words: list[list[Dependency]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Example and number of each word."""
    rows = [(example, word.word) for example, words_of_example in enumerate(words) for word in words_of_example]
    example, word = torch.tensor(rows, dtype=torch.long, device=device).reshape(-1, 2).unbind(-1)  # each [row]
    return example, word
