"""The losses of the training of a smaller model, and how much each counts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError, suggest

WORDS = {
    "states": "states of the whole model",
    "outputs": "outputs of the whole model",
    "relations": "relations between its tokens",
    "labels": "labels of the task",
}
PSEUDO_LABELS = "labels that are the whole model's own answers"
States = Float[Tensor, "example token width"]


@dataclass(frozen=True)
class LossWeights:
    """How much each loss of the training counts, from 0 on.

    * `states`: squared difference of the states after each kept layer, by their mean square (Sanh et al. 2019).
    * `outputs`: squared difference of the outputs, by their distance from the batch's mean; of classes also their
      divergence (Hinton et al. 2015).
    * `relations`: divergence of the relations between tokens, see `of_relations` (Wang et al. 2020).
    * `labels`: of the task: cross entropy of the classes, squared error of the scores by their spread.
    """

    states: float = 0.0
    outputs: float = 0.0
    relations: float = 0.0
    labels: float = 0.0

    def words(self, task: Task | None) -> str:
        """What is learned from.

        * `task`: whose labels may be the whole model's own answers.

        >>> LossWeights(states=1, outputs=1).words(None)
        'states of the whole model and outputs of the whole model'
        """
        words = WORDS | ({"labels": PSEUDO_LABELS} if task is not None and task.pseudo_labelled else {})
        return " and ".join(words[name] for name, weight in asdict(self).items() if weight)


def loss_weights(text: str, task: Task | None) -> LossWeights:
    """The weights of a list such as "states=1,outputs=0.5"; losses that it does not name count nothing.

    Raises `HeadscopeError` for what is no such list, for weights that are all 0, and for labels without a task.

    >>> loss_weights("outputs=2, relations=1", None)
    LossWeights(states=0.0, outputs=2.0, relations=1.0, labels=0.0)
    """
    names, given = [field.name for field in fields(LossWeights)], {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (word.strip() for word in part.partition("="))
        if name not in names:
            raise HeadscopeError(f"loss '{name[:40]}' is unknown; {suggest(name, names)}")
        given[name] = _weight(name, number)
    if not any(given.values()):
        raise HeadscopeError(f"losses '{text[:40]}': give one a weight above 0, as in states=1,outputs=1")
    if given.get("labels") and task is None:
        raise HeadscopeError(
            "losses: labels are those of a task; name it with --task, take --pseudo-labels, or leave labels out"
        )
    return LossWeights(**given)


def _weight(name: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise HeadscopeError(f"loss '{name}': '{text[:20]}' is no number from 0 on; write it as in {name}=1")
    return weight


def of_states(ours: Sequence[States], theirs: Sequence[States], real: Bool[Tensor, "example token"]) -> Tensor:
    """The mean over states of the squared difference, by the mean square of the wanted ones."""
    losses = []
    for state, wanted in zip(ours, theirs, strict=True):
        difference = (state[real] - wanted[real]).square().mean()
        losses.append(difference / wanted[real].square().mean().clamp_min(1e-12))
    return torch.stack(losses).mean()


def of_relations(ours: States, theirs: States, real: Bool[Tensor, "example token"], heads: int) -> Tensor:
    """The divergence of the relations between the tokens of a text, the mean over tokens and heads.

    A relation is the softmax over tokens of the scaled products of states, each cut into so many heads: as Wang et al.
    2020 (MiniLM, section 3.2) relate values, for models whose numbers of heads may differ.
    """
    one, other = (_relations(states, real, heads) for states in (ours, theirs))
    pairs = real[:, None, :, None] & real[:, None, None, :]
    terms = torch.where(pairs, other.exp() * (other - one), 0)
    return terms.sum() / (heads * real.sum())


def _relations(
    states: States, real: Bool[Tensor, "example token"], heads: int
) -> Float[Tensor, "example head token token"]:
    """The logarithm of the relations; those to padding are far below all others."""
    cut = states.unflatten(-1, (heads, -1)).transpose(1, 2)
    products = cut @ cut.mT / cut.shape[-1] ** 0.5
    return log_softmax(products.masked_fill(~real[:, None, None], -1e4), -1)


def of_outputs(
    ours: Float[Tensor, "example output"], theirs: Float[Tensor, "example output"], *, classes: bool
) -> Tensor:
    """The squared difference of outputs by their spread; of classes with their divergence."""
    loss = relative(ours, theirs)
    if classes:
        one, other = (log_softmax(logits, -1) for logits in (ours, theirs))
        loss = loss + kl_div(one, other, log_target=True, reduction="batchmean")
    return loss


def of_labels(outputs: Float[Tensor, "example output"], labels: Shaped[Tensor, " example"], *, classes: bool) -> Tensor:
    """The cross entropy of the classes, or the squared error of the scores by their spread."""
    return cross_entropy(outputs, labels.long()) if classes else relative(outputs, labels[:, None].to(outputs.dtype))


def relative(ours: Float[Tensor, "example output"], theirs: Float[Tensor, "example output"]) -> Float[Tensor, ""]:
    """The squared difference by the squared distance from the mean of the batch.

    >>> relative(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]))
    tensor(0.5000)
    """
    spread = (theirs - theirs.mean(0)).square().sum().clamp_min(1e-6)
    return (ours - theirs).square().sum() / spread
