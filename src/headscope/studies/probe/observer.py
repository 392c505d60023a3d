"""Keeps the attention between the words of each sentence of a treebank, and that from and to [CLS] and [SEP].

To a word it is the sum over the word's tokens, from a word the mean over them (Clark et al. 2019, section 4.1); the
tokens of each role, [CLS] and [SEP], are treated as one word more.
"""

from collections import Counter, defaultdict

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch
from headscope.encoding.treebank_batch import sentences_of
from headscope.engine.half_precision_store import Store
from headscope.linguistics.parsed_sentences import Parsed
from headscope.studies.probe.roles import ROLES, SPECIAL


class TreebankObserver:
    """An observer that puts the attention of each sentence of a batch into a store.

    `counts`: of sentences and words that cannot be parsed, see `sentences.parsed`.
    """

    batch: Batch

    def __init__(self, store: Store, counts: Counter[str] | None = None):
        self.store, self.counts = store, Counter() if counts is None else counts

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch, self.maps = batch, defaultdict(list)
        self.members = members(batch)
        self.sources = (self.members / self.members.sum(1, keepdim=True).clamp_min(1)).mT  # [example, word, query]

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None = None
    ) -> None:
        """See `Observer`; attention becomes that between words as soon as all queries of some examples are there."""
        # [example, head and query, key] @ [example, key, word], then [example, head, query, word]
        to_words = (attention.flatten(1, 2) @ self.members[examples]).unflatten(1, attention.shape[1:3])
        part = self.sources[examples, None, :, queries] @ to_words
        self.part = part if queries.start == 0 else self.part + part
        if queries.stop == self.batch.real.shape[1]:
            self.maps[layer].append(self.part.to(torch.float16))

    def finish(self) -> list[Parsed]:
        """Put the attention of the batch's sentences into the store; return the sentences in the same order."""
        layers = [torch.cat(self.maps[layer]) for layer in sorted(self.maps)]
        whole = torch.cat(layers, dim=1).cpu()  # [example, head, word, word], heads of all layers in a row
        sentences = list(sentences_of(self.batch, self.counts))
        for row, sentence in sentences:
            kept = torch.cat([torch.arange(SPECIAL), torch.from_numpy(sentence.words) + SPECIAL])
            between = whole[row].index_select(1, kept).index_select(2, kept)
            # [word, word, head]
            self.store.add(between.permute(1, 2, 0).contiguous().numpy())
        return [sentence for _, sentence in sentences]


def members(batch: Batch) -> Float[Tensor, "example token word"]:
    """1 for the tokens of [CLS], of [SEP], and of each word."""
    roles = torch.stack([batch.token_class == role for role in ROLES], dim=-1)
    return torch.cat([roles.to(torch.float32), batch.sum_of_pieces], dim=-1)
