"""How long the vectors are that heads move from sinks, beside those from other tokens.

Kobayashi et al. 2020, section 2: a head moves a f(x) from a token, attention times the token's value through the
output projection. Heads that do nothing look at tokens whose f(x) is short.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.attention_function import for_each_head
from headscope.capture.attention_switch import attending, fused, switchable
from headscope.corpora import Corpus
from headscope.corpora.corpus import sample
from headscope.encoding.batch import Batch, Values
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.residual_writes import written_by_heads
from headscope.passes.accumulators import IndexedValues
from headscope.passes.batches import collator
from headscope.passes.passes import Pass
from headscope.passes.settings import Settings
from headscope.statistics.bootstrap import Tally
from headscope.studies.heads.induction.observer import foci_of

INPUTS = 64
TINY = 1e-30


def value_norms(model: Model, corpus: Corpus, settings: Settings) -> Tally | str:
    """The length of f(x) at each of `FOCI` over its mean at other tokens; a reason where it cannot be read."""
    if model.capture.method == "softmax tap":
        return "values of heads cannot be read in this kind of model"
    collate = collator(model)
    grams = [written.float().mT @ written.float() for written in written_by_heads(model)]  # [head, width, width]

    def values(group: list[Encoded]) -> IndexedValues:
        batch = collate(group)
        return IndexedValues(batch.unit, {"value_norm": _of_batch(model, batch, grams)})

    with torch.inference_mode(), switchable(model.network):
        return Pass(model, sample(corpus, INPUTS, settings.seed), settings).tally(values).read().value["value_norm"]


def _of_batch(model: Model, batch: Batch, grams: list[Float[Tensor, "head width width"]]) -> Values:
    lengths = list[Tensor]()

    def attend(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *arguments: Any, **keywords: Any
    ) -> tuple[Tensor, None]:
        vectors = for_each_head(value, query.shape[1], dim=1).float()
        squared = torch.einsum("ehkw,hwv,ehkv->ehk", vectors, grams[len(lengths)], vectors)
        lengths.append(squared.clamp_min(0).sqrt())
        return fused(module, query, key, value, *arguments, **keywords)

    with attending(attend):
        model.network(**batch.inputs)
    norms, foci = torch.cat(lengths, dim=1), foci_of(batch)  # [example, head, key], [example, key, focus]
    others = batch.real.float() - foci.sum(-1)
    beside = norms @ others[..., None] / others.sum(-1)[:, None, None].clamp_min(1)
    means = norms @ foci / foci.sum(1)[:, None].clamp_min(1)
    return Values(means / beside.clamp_min(TINY), (foci.sum(1) > 0) & (others.sum(-1) > 0)[:, None])
