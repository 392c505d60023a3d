"""The parsers of Clark et al. 2019, section 5: a score of each word, and of ROOT, as the head of each word.

All read a batch of sentences as `Attention`: [CLS] and [SEP] stand before the words, and the features of two tokens are
the attention of each head of the model from one to the other, then that back. What they give is, for each word, the
score of ROOT and of each word; the probability is the softmax.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headscope.encoding.word_attention import SPECIAL

Attention = Float[Tensor, "sentence token token feature"]
WordVectors = Float[Tensor, "sentence token number"]
Lengths = Int[Tensor, " sentence"]
Scores = Float[Tensor, "sentence word candidate"]
# The released code has 256, which take four times as long and gain nothing that a baseline needs.
HIDDEN = 64


class Root(nn.Module):
    """The score of ROOT: two learned scalars times the scores of [CLS] and [SEP] as heads, as in the released code.

    A learned constant is added, without which a model without special tokens could never find a root.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scalars = nn.Parameter(torch.ones(SPECIAL))
        self.constant = nn.Parameter(torch.zeros(()))

    def forward(self, scores: Float[Tensor, "sentence token token"]) -> Scores:
        """Scores of all tokens become those of ROOT and of the words."""
        root = scores[:, SPECIAL:, :SPECIAL] @ self.scalars + self.constant
        return torch.cat([root[..., None], scores[:, SPECIAL:, SPECIAL:]], dim=-1)


class AttentionParser(nn.Module):
    """p(i|j) ~ exp(sum_k w_k a_ij^k + u_k a_ji^k): a weight for each head of the model and direction.

    * `features`: twice the number of the model's heads.
    """

    uses_words = False

    def __init__(self, features: int, numbers: int):
        super().__init__()
        self.weights, self.root = nn.Parameter(torch.zeros(features)), Root()

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        return self.root(attention @ self.weights)


class AttentionAndWordsParser(nn.Module):
    """p(i|j) ~ exp(sum_k (W_k (v_i + v_j) + b_k) a_ij^k + (U_k (v_i + v_j) + c_k) a_ji^k), vectors concatenated.

    The weight of a head depends on both words. Special tokens have the vector 0; in the released code the weights of
    ROOT do not depend on the word either.

    * `numbers`: of a word's vector.
    """

    uses_words = True

    def __init__(self, features: int, numbers: int):
        super().__init__()
        self.dependent = nn.Linear(numbers, features)
        self.head = nn.Linear(numbers, features, bias=False)
        self.root = Root()
        for parameter in (*self.dependent.parameters(), *self.head.parameters()):
            nn.init.zeros_(parameter)

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        of_dependent, of_head = self.dependent(vectors), self.head(vectors)
        # What the head's vector weighs is the same features, seen from the head: each direction is then the other.
        seen_from_head = of_head.roll(attention.shape[-1] // 2, dims=-1)
        both = attention @ torch.stack([of_dependent, seen_from_head], dim=-1)  # [sentence, token, token, 2]
        return self.root(both[..., 0] + both[..., 1].mT)


class DistanceParser(nn.Module):
    """The baseline without attention: two words' vectors and their distance, through one layer of 64 tanh units.

    Distances as in the released code: how far ahead or behind the candidate is, as a share of the sentence, whether it
    is 1 or 2 words ahead or behind, and whether it is ROOT, whose vector is 0.
    """

    uses_words = True

    def __init__(self, features: int, numbers: int):
        super().__init__()
        self.dependent, self.head = nn.Linear(numbers, HIDDEN), nn.Linear(numbers, HIDDEN, bias=False)
        self.distance, self.score = nn.Linear(DISTANCES, HIDDEN, bias=False), nn.Linear(HIDDEN, 1)

    def forward(self, attention: Attention, vectors: WordVectors, lengths: Lengths) -> Scores:
        """The scores of ROOT and of each word as the head of each word."""
        words = vectors[:, SPECIAL:]
        candidates = nn.functional.pad(self.head(words), (0, 0, 1, 0))
        # In place: of all parsers this alone has large intermediate values.
        hidden = self.distance(distances(lengths, words.shape[1]))
        hidden = hidden.add_(self.dependent(words)[:, :, None]).add_(candidates[:, None]).tanh_()
        return self.score(hidden)[..., 0]


NEAR = (-2, -1, 1, 2)
DISTANCES = 2 + len(NEAR) + 1


def distances(lengths: Lengths, words: int) -> Float[Tensor, "sentence word candidate distance"]:
    """The features of where each candidate, ROOT first, stands from each word, in sentences padded to `words`.

    >>> distances(torch.tensor([2]), 2)[0, 0].tolist()  # of the first word: ROOT, itself, and the word after it
    [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
    """
    places = torch.arange(words, device=lengths.device)
    away = (places[None] - places[:, None]).float()
    features = torch.zeros(len(lengths), words, words + 1, DISTANCES, device=lengths.device)
    features[:, :, 1:, 0] = away.clamp_min(0) / lengths[:, None, None]
    features[:, :, 1:, 1] = away.mT.clamp_min(0) / lengths[:, None, None]
    features[:, :, 1:, 2:-1] = torch.stack([away == near for near in NEAR], dim=-1).float()
    features[:, :, 0, -1] = 1
    return features
