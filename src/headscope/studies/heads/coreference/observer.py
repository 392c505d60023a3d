"""Observer of attention between the head words of mentions: the heads that point at an antecedent.

Clark et al. 2019, section 4.3: the head word of a mention looks at the head words of the candidates; the one that it
attends to most is the antecedent. Attention to a word is the sum over its tokens, from a word the mean over them.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.passes.observing import RowsObserver
from headscope.studies.heads.coreference.cases import Case
from headscope.studies.heads.coreference.scores import AntecedentPredictions, predictions


class MentionObserver(RowsObserver):
    """Keep, of the attention of a batch, only the mentions whose antecedent each attention head predicts.

    * `cases`: the cases of each example, by its id.
    * `toward`: whether the attention to the first candidate is kept too; `confused`: whether the confusion is.
    * `counts`: number of cases left out, because some of their words have no token in the input.
    """

    def __init__(
        self,
        cases: Mapping[str, tuple[Case, ...]],
        *,
        toward: bool = False,
        confused: bool = False,
        counts: Counter[str] | None = None,
    ):
        self.cases, self.toward, self.confused = cases, toward, confused
        self.counts = Counter() if counts is None else counts

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare the mentions of this one."""
        self.batch = batch
        self.answers = BlockParts(batch.real.shape[1], self._read)
        readable = batch.has_token.tolist()
        self.kept = [
            [kept for case in self.cases[example.id] if (kept := self._with_tokens(case, has_token))]
            for example, has_token in zip(batch.examples, readable, strict=True)
        ]
        self._prepare()

    def _prepare(self) -> None:
        """Source word, candidates and right candidates of each case, as padded tensors."""
        words = [sorted({candidate.word for case in cases for candidate in case.candidates}) for cases in self.kept]
        most = max(map(len, self.kept), default=0), max(map(len, words), default=0)
        source = np.zeros((len(words), most[0]), dtype=np.int64)
        target = np.zeros((len(words), most[1]), dtype=np.int64)
        allowed, right = np.zeros((2, len(words), *most), dtype=bool)
        first = np.zeros((len(words), most[0]), dtype=np.int64)
        for example, (cases, targets) in enumerate(zip(self.kept, words, strict=True)):
            target[example, : len(targets)] = targets
            at = {word: column for column, word in enumerate(targets)}
            for row, case in enumerate(cases):
                source[example, row] = case.mention.word
                allowed[example, row, [at[candidate.word] for candidate in case.candidates]] = True
                right[example, row, [at[word] for word in case.right]] = True
                first[example, row] = at[case.candidates[0].word]
        device, examples = self.batch.real.device, torch.arange(len(words))[:, None]
        self.sink = self.batch.sink[:, None, :, None]
        self.allowed, self.is_right, self.at_first = (
            torch.from_numpy(mask).to(device) for mask in (allowed, right, first)
        )
        if most[0]:
            sources = self.batch.mean_of_pieces[examples, torch.from_numpy(source)]
            self.sources = torch.cat([sources, self._other_words()], dim=1)
            # [example, token, candidate]
            self.targets = self.batch.sum_of_pieces.mT[examples, torch.from_numpy(target)].mT

    def _other_words(self) -> Float[Tensor, "example 1 token"]:
        """The mean over the words of an example that no case asks about; NaN where there is none."""
        other = self.batch.has_token.clone()
        for example, cases in enumerate(self.kept):
            other[example, [case.mention.word for case in cases]] = False
        mean = other.to(torch.float32) / other.sum(1, keepdim=True)
        return torch.where(other.any(1, keepdim=True), mean, torch.nan)[:, None] @ self.batch.mean_of_pieces

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`; mentions are read as soon as all queries of some examples are there."""
        if self.allowed.shape[1]:
            part = self.sources[rows.examples, None, :, rows.queries] @ rows.attention
            self.answers.add(layer, rows, rows.for_all_keys(part))

    def _read(
        self, summed: Float[Tensor, "example head case key"], rows: Rows
    ) -> Float[Tensor, "example head case answer"]:
        """1 where the antecedent is predicted, else 0; attention to special tokens, from the mention and from others.

        Where wanted also the confusion, and the attention to the first candidate.
        """
        to_sink = summed @ self.sink[rows.examples]  # [example, head, case and others, 1]
        summed, sink, others = summed[:, :, :-1], to_sink[:, :, :-1], to_sink[:, :, -1:]
        weights = summed @ self.targets[rows.examples, None]  # [example, head, case, target]
        allowed, right = self.allowed[rows.examples, None], self.is_right[rows.examples, None].expand(weights.shape)
        pointed_at = weights.masked_fill(~allowed, -1).max(-1, keepdim=True).indices
        answers = [right.gather(-1, pointed_at).to(weights.dtype), sink, others.expand_as(sink)]
        if self.confused:
            answers.append(confusion(weights, allowed.expand(weights.shape))[..., None])
        if self.toward:
            first = self.at_first[rows.examples, None, :, None].expand(*weights.shape[:-1], 1)
            answers.append(weights.gather(-1, first))
        return torch.cat(answers, dim=-1)

    def finish(self) -> AntecedentPredictions:
        """The predictions about the mentions of the batch."""
        numbers = [
            (example, row, number)
            for example, (number, cases) in enumerate(zip(self.batch.index.tolist(), self.kept, strict=True))
            for row in range(len(cases))
        ]
        rows = np.array(numbers, dtype=np.int64).reshape(-1, 3)  # [case, 3]
        cases = [case for kept in self.kept for case in kept]
        answers = _picked(self.answers, rows)  # [case, head, answer]
        nothing = np.zeros((len(cases), 0), dtype=np.float32)
        toward = answers[..., -1] if self.toward else nothing
        confused = answers[..., 3] if self.confused else nothing
        return predictions(cases, rows[:, [2, 1]], answers[..., 0] > 0, toward, answers[..., 1:3], confused)

    def _with_tokens(self, case: Case, readable: list[bool]) -> Case | None:
        """The case as far as its words have tokens; None, and counted, where too few words have."""
        kept = case.where(readable)
        if not readable[case.mention.word]:
            self.counts["mentions without a token"] += 1
        elif case.question and kept.candidates != case.candidates:
            self.counts["questions with a candidate without a token"] += 1
        elif not (kept.right or case.question):
            self.counts["mentions whose antecedents have no token"] += 1
        else:
            return kept
        return None


def _picked(parts: BlockParts, rows: np.ndarray) -> Float[np.ndarray, "case head answer"]:
    """The answers of each case, heads of all layers in a row."""
    if not parts.layers:
        return np.zeros((len(rows), 0, 5), dtype=np.float32)
    answers = parts.joined()
    example, row = torch.from_numpy(rows[:, :2]).to(answers.device).unbind(-1)
    return answers[example, :, row].cpu().numpy()


def confusion(
    weights: Float[Tensor, "*dims candidate"], allowed: Bool[Tensor, "*dims candidate"]
) -> Float[Tensor, "*dims"]:
    """How evenly weights spread over the candidates that are allowed: their entropy, in bits.

    Lin et al. 2019, sections 4 and 5: attention to the candidates is made to sum to 1 over them; a head that looks at
    none of them is as confused as one that looks at all equally. It says how surely a head chooses, not whether it is
    right.

    >>> confusion(torch.tensor([0.2, 0.2, 0.9]), torch.tensor([True, True, False])).item()
    1.0
    """
    kept = weights * allowed
    total = kept.sum(-1, keepdim=True)
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    shares = torch.where(total > 0, kept / total.clamp_min(torch.finfo(kept.dtype).tiny), even)
    return torch.special.entr(shares).sum(-1) / np.log(2)
