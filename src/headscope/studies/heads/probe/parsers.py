"""The parsers of Clark et al. 2019, section 5: a score of each word, and of ROOT, as the head of each word.

All read a batch of sentences as `Attention`: [CLS] and [SEP] stand before the words, and the features of two tokens are
the attention of each head of the model from one to the other, then that back. What they give is, for each word, the
score of ROOT and of each word; the probability is the softmax.

Each module is the parsers of several seeds, with a row of each parameter for each seed. They see the same batches, and
attention is read once for all of them.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headscope.encoding.block_parts import SPECIAL

Attention = Float[Tensor, "sentence token token feature"]
WordVectors = Float[Tensor, "sentence token number"]
Lengths = Int[Tensor, " sentence"]
Scores = Float[Tensor, "seed sentence word candidate"]
# The released code has 256, which take four times as long and gain nothing that a baseline needs.
HIDDEN = 64
# Most numbers of a part: 2 MiB.
CACHE = 1 << 19
ByWord = Float[Tensor, "sentence word unit"]


class Linears(nn.Module):
    """A linear map for each seed, of the same inputs."""

    def __init__(self, inputs: int, outputs: int, seeds: int, *, bias: bool = True):
        super().__init__()
        singles = [nn.Linear(inputs, outputs, bias=bias) for _ in range(seeds)]
        self.weight = nn.Parameter(torch.stack([single.weight.detach() for single in singles]))
        self.bias = nn.Parameter(torch.stack([single.bias.detach() for single in singles])) if bias else None

    def forward(self, inputs: Float[Tensor, "*dims input"]) -> Float[Tensor, "*dims seed output"]:
        """The outputs of all maps, by one product."""
        bias = None if self.bias is None else self.bias.flatten()
        both = nn.functional.linear(inputs, self.weight.flatten(0, 1), bias)
        return both.unflatten(-1, self.weight.shape[:2])


class Root(nn.Module):
    """The score of ROOT: two learned scalars times the scores of [CLS] and [SEP] as heads, as in the released code.

    A learned constant is added, without which a model without special tokens could never find a root.
    """

    def __init__(self, seeds: int) -> None:
        super().__init__()
        self.scalars, self.constant = nn.Parameter(torch.ones(seeds, SPECIAL)), nn.Parameter(torch.zeros(seeds))

    def forward(self, scores: Float[Tensor, "seed sentence token token"]) -> Scores:
        """Scores of all tokens become those of ROOT and of the words."""
        scalars, constant = self.scalars[:, None, None], self.constant[:, None, None]
        root = (scores[:, :, SPECIAL:, :SPECIAL] * scalars).sum(-1) + constant
        return torch.cat([root[..., None], scores[:, :, SPECIAL:, SPECIAL:]], dim=-1)


class AttentionParser(nn.Module):
    """p(i|j) ~ exp(sum_k w_k a_ij^k + u_k a_ji^k): a weight for each head of the model and direction.

    * `features`: twice the number of the model's heads.
    """

    def __init__(self, features: int, numbers: int, seeds: int = 1):
        super().__init__()
        self.weights, self.root = nn.Parameter(torch.zeros(seeds, features)), Root(seeds)

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        return self.root((attention @ self.weights.T).movedim(-1, 0))


class AttentionAndWordsParser(nn.Module):
    """p(i|j) ~ exp(sum_k (W_k (v_i + v_j) + b_k) a_ij^k + (U_k (v_i + v_j) + c_k) a_ji^k), vectors concatenated.

    The weight of a head depends on both words. Special tokens have the vector 0; in the released code the weights of
    ROOT do not depend on the word either.

    * `numbers`: of a word's vector.
    """

    def __init__(self, features: int, numbers: int, seeds: int = 1):
        super().__init__()
        self.dependent = Linears(numbers, features, seeds)
        self.head = Linears(numbers, features, seeds, bias=False)
        self.root = Root(seeds)
        for parameter in (*self.dependent.parameters(), *self.head.parameters()):
            nn.init.zeros_(parameter)

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        dependent, head = self.dependent(vectors), self.head(vectors)  # [sentence, token, seed, feature]
        # What the head's vector weighs is the same features, seen from the head: each direction is then the other.
        seen_from_head = head.roll(attention.shape[-1] // 2, dims=-1)
        both = (attention @ torch.cat([dependent, seen_from_head], dim=2).mT).movedim(-1, 0)
        from_dependent, from_head = both.chunk(2)  # [seed, sentence, token, token]
        return self.root(from_dependent + from_head.mT)


class DistanceParser(nn.Module):
    """The baseline without attention: two words' vectors and their distance, through one layer of 64 tanh units.

    Distances as in the released code: how far ahead or behind the candidate is, as a share of the sentence, whether it
    is 1 or 2 words ahead or behind, and whether it is ROOT, whose vector is 0.
    """

    def __init__(self, features: int, numbers: int, seeds: int = 1):
        super().__init__()
        self.dependent, self.head = Linears(numbers, HIDDEN, seeds), Linears(numbers, HIDDEN, seeds, bias=False)
        self.distance = Linears(DISTANCES, HIDDEN, seeds, bias=False)
        # A bias would be the same for all candidates.
        self.score = Linears(HIDDEN, 1, seeds, bias=False)

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        words = vectors[:, SPECIAL:]
        candidates = nn.functional.pad(self.head(words), (0, 0, 0, 0, 1, 0))
        parts = (self.distance(distances(lengths, words.shape[1])), self.dependent(words), candidates)
        by_seed = zip(*(part.unbind(2) for part in parts), self.score.weight[:, 0], strict=True)
        return torch.stack([UnitScores.apply(*seed_parts) for seed_parts in by_seed])


NEAR = (-2, -1, 1, 2)
DISTANCES = 2 + len(NEAR) + 1


def distances(lengths: Lengths, words: int) -> Float[Tensor, "sentence offset distance"]:
    """The features of the offsets from a word to a candidate, and last of ROOT, in sentences padded to `words`.

    >>> distances(torch.tensor([2]), 2)[0].tolist()  # the word before, the word itself, the word after it, ROOT
    [[0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, ...], [0.5, 0.0, 0.0, 0.0, 1.0, ...], [0.0, ..., 1.0]]
    """
    away = torch.arange(1 - words, words, device=lengths.device)
    features = torch.zeros(len(lengths), 2 * words, DISTANCES, device=lengths.device)
    features[:, :-1, 0] = away.clamp_min(0) / lengths[:, None]
    features[:, :-1, 1] = (-away).clamp_min(0) / lengths[:, None]
    features[:, :-1, 2:-1] = torch.stack([away == near for near in NEAR], dim=-1).float()
    features[:, -1, -1] = 1
    return features


class UnitScores(torch.autograd.Function):
    """weights . tanh(at_offset[j - i] + dependent_i + candidate_j) of each word i and candidate j, ROOT first.

    The layer of the baseline of distances, with its gradient by hand. Of all parsers this one alone has large
    intermediate values, a vector for each pair of words. They are made, and their gradient is, for a few sentences at a
    time, which stay in the processor's cache.
    """

    @staticmethod
    def forward(
        ctx: Any,
        at_offset: Float[Tensor, "sentence offset unit"],
        dependent: ByWord,
        candidate: Float[Tensor, "sentence candidate unit"],
        weights: Float[Tensor, " unit"],
    ) -> Float[Tensor, "sentence word candidate"]:
        """The scores; the offsets are those of `offsets`."""
        sentences, words, units = dependent.shape
        order, hidden = offsets(words).to(dependent.device).flatten(), []
        size = max(1, CACHE // (words * (words + 1) * units))
        for first in range(0, sentences, size):
            part = slice(first, first + size)
            pairs = at_offset[part].index_select(1, order).unflatten(1, (words, words + 1))
            hidden.append(pairs.add_(dependent[part, :, None]).add_(candidate[part, None]).tanh_())
        ctx.order = order
        ctx.save_for_backward(weights, *hidden)
        return torch.cat([part @ weights for part in hidden])

    @staticmethod
    def backward(ctx: Any, gradient: Float[Tensor, "sentence word candidate"]) -> tuple[Tensor, ...]:  # pyright: ignore[reportIncompatibleMethodOverride] (torch's has any arguments)
        """The gradients of all four arguments."""
        weights, *hidden = ctx.saved_tensors
        words, found, at_weights = gradient.shape[1], [], torch.zeros_like(weights)
        for part, at_score in zip(hidden, gradient.split(len(hidden[0])), strict=True):
            at_weights += torch.mv(part.flatten(0, 2).T, at_score.flatten())
            # The derivative of tanh; the weights are a factor of sums, which are smaller.
            at_pairs = part.square().neg_().add_(1).mul_(at_score[..., None])
            at_offset = part.new_zeros(len(part), 2 * words, len(weights))
            at_offset.index_add_(1, ctx.order, at_pairs.flatten(1, 2))
            found.append((at_offset, at_pairs.sum(2), at_pairs.sum(1)))
        at_offset, dependent, candidate = (torch.cat(parts) * weights for parts in zip(*found, strict=True))
        return at_offset, dependent, candidate, at_weights


def offsets(words: int) -> Int[Tensor, "word candidate"]:
    """The row of each pair among the offsets from `1 - words` to `words - 1`, which ROOT follows.

    >>> offsets(2).tolist()
    [[3, 1, 2], [3, 0, 1]]
    """
    positions = torch.arange(words)
    root = torch.full((words, 1), 2 * words - 1)
    return torch.cat([root, positions - positions[:, None] + words - 1], dim=1)
