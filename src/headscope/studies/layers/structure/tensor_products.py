"""Tensor product decomposition: is the vector of a sentence a sum of words bound to their places (McCoy et al. 2019)?

The vector of a sentence, the mean of the states of its words, is approximated by a linear map of the mean over words of
filler times role. A filler is a linear map of the word's own embedding, without context; a role is a trained vector of
the word's place. Schemes of roles compete (Jawahar et al. 2019, section 6): if that of the tree leaves less error than
that of a shuffled tree and than places from the left or the right, the states are composed along trees.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headscope.encoding.parsed_sentences import ROOT, Parsed
from headscope.models.random_weights import SEEDS
from headscope.statistics.intervals import Score, effective_units, mean_of
from headscope.studies.layers.structure.treebank_states import UNCONTEXTUAL, TreebankStates

SCHEMES = ("bag_of_words", "left_to_right", "right_to_left", "bidirectional", "tree", "shuffled_tree")
# Dimensions of a filler and of a role, and axes of the embeddings that fillers are made of.
FILLER, ROLE, AXES = 20, 10, 64
EPOCHS, BATCH, RATE = 20, 32, 0.01
# Roles of fewer training words share one role; paths in the tree are cut at this depth.
LEAST_WORDS, DEEPEST = 5, 6
RARE = 0


def roles(sentence: Parsed, scheme: str, random: np.random.Generator) -> list[Hashable]:
    """The role of each word of a sentence: its place, by one of `SCHEMES`.

    In a tree it is the path from the root: on which side of its head each word stands. A shuffled tree gives the words
    of the sentence each other's paths.
    """
    words = len(sentence)
    if scheme == "bag_of_words":
        return [0] * words
    if scheme == "left_to_right":
        return list(range(words))
    if scheme == "right_to_left":
        return list(range(words - 1, -1, -1))
    if scheme == "bidirectional":
        return [(index, words - 1 - index) for index in range(words)]
    paths = [path(sentence.heads, word) for word in range(words)]
    return [paths[word] for word in random.permutation(words)] if scheme == "shuffled_tree" else list(paths)


def path(heads: Int[np.ndarray, " word"], word: int) -> str:
    """The sides on which a word and its heads stand of theirs, from the root down, at most 6 of them.

    * `heads`: of each word, counted from 1; 0 for the root.

    >>> [path(np.array([2, 0, 4, 2]), word) for word in range(4)]
    ['L', '', 'RL', 'R']
    """
    sides = ""
    while heads[word] != ROOT and len(sides) < len(heads):
        head = int(heads[word]) - 1
        sides = ("L" if word < head else "R") + sides
        word = head
    return sides[:DEEPEST]


class TensorProducts(nn.Module):
    """Fillers, roles and the map of their products to the vectors of sentences, of all spaces."""

    def __init__(self, spaces: int, axes: int, roles: int, width: int, seed: int):
        super().__init__()
        random = torch.Generator().manual_seed(seed)

        def normal(*shape: int, scale: float) -> nn.Parameter:
            return nn.Parameter(scale * torch.randn(*shape, generator=random))

        self.filler = normal(spaces, axes, FILLER, scale=axes**-0.5)
        self.role = nn.Parameter(1 + 0.3 * torch.randn(spaces, roles, ROLE, generator=random))
        self.out = normal(spaces, FILLER * ROLE, width, scale=(FILLER * ROLE) ** -0.5)
        self.bias = nn.Parameter(torch.zeros(spaces, 1, width))

    def forward(
        self, fillers: Float[Tensor, "sentence word axis"], role_ids: Int[Tensor, "sentence word"], real: Tensor
    ) -> Float[Tensor, "space sentence width"]:
        """The vectors of sentences; words that are not `real` are padding."""
        bound = torch.einsum("nwa,saf->snwf", fillers, self.filler)
        # [space, sentence, word, role]
        weights = self.role[:, role_ids] * (real / real.sum(1, keepdim=True))[..., None]
        products = torch.einsum("snwf,snwr->snfr", bound, weights).flatten(2)
        return products @ self.out + self.bias

    @property
    def size(self) -> int:
        """The number of parameters of one space."""
        return sum(weights[0].numel() for weights in self.parameters())


@dataclass(frozen=True)
class DecomposedStates:
    """Errors of all schemes on the sentences that are tested.

    * `error`: by scheme, the squared error of all spaces as a share of that of the mean of training sentences.
    * `parameters`: by scheme, the number of parameters of one space; `roles`: the number of its roles.
    """

    error: dict[str, Score]
    parameters: dict[str, int]
    roles: dict[str, int]


def decompose(
    train: TreebankStates,
    test: TreebankStates,
    draws: Float[np.ndarray, "resample sentence"],
    seed: int,
    device: torch.device,
    done: Callable[[int], None] = lambda sentences: None,
) -> DecomposedStates:
    """Train the decompositions of all layers together, one scheme after the other; score them on other sentences.

    Each is trained from three seeds, whose mean is scored: its intervals are over sentences and over trainings.

    * `draws`: of the tested sentences; `done` receives numbers of training sentences.
    """
    fillers = _fillers([train, test])
    padded = [_padded(rows, device) for rows in (fillers[: len(train)], fillers[len(train) :])]
    layers = slice(None, -len(UNCONTEXTUAL))
    # [space, sentence, width]: the mean of the states of the words of each sentence, in each layer
    means = ([array[layers].float().mean(1) for array in treebank.arrays] for treebank in (train, test))
    targets = [torch.stack(by_sentence, dim=1).to(device) for by_sentence in means]
    centre = targets[0].mean(1, keepdim=True)
    scale = (targets[0] - centre).square().mean((1, 2), keepdim=True).sqrt().clamp_min(1e-12)
    targets = [(target - centre) / scale for target in targets]
    error, parameters, numbers = {}, {}, {}
    for scheme in SCHEMES:
        random = np.random.default_rng(seed)
        names = [[roles(sentence, scheme, random) for sentence in part.sentences] for part in (train, test)]
        index = role_numbers(names[0])
        role_ids = [_role_ids(part, index, padded[at][0].shape[1], device) for at, part in enumerate(names)]
        scores = []
        for begun in range(seed, seed + SEEDS):
            model = TensorProducts(len(centre), padded[0][0].shape[-1], len(index) + 1, centre.shape[-1], begun).to(
                device
            )
            _fit(model, padded[0], role_ids[0], targets[0], begun, done)
            with torch.inference_mode():
                parts = torch.arange(len(test), device=device).split(256)
                guesses = [model(padded[1][0][part], role_ids[1][part], padded[1][1][part]) for part in parts]
            errors = (torch.cat(guesses, dim=1) - targets[1]).square().sum(-1)
            scores.append(_score(errors, targets[1].square().sum(-1), draws))
            parameters[scheme] = model.size
        error[scheme], numbers[scheme] = _over_seeds(scores, random), len(index) + 1
    return DecomposedStates(error, parameters, numbers)


def _over_seeds(scores: Sequence[Score], random: np.random.Generator) -> Score:
    """The mean of several trainings; its resamples vary as its sentences do, and as trainings do (t distribution)."""
    mean, count = mean_of(scores), len(scores)
    error = np.std([score.mean for score in scores], axis=0, ddof=1) / np.sqrt(count)
    drawn = random.standard_t(count - 1, size=(len(mean.resampled), 1))
    return replace(mean, resampled=mean.resampled + error * drawn)


def role_numbers(names: Sequence[Sequence[Hashable]]) -> Mapping[Hashable, int]:
    """The number of each role of five or more training words; all others have 0.

    >>> role_numbers([["a"] * 5 + ["b"], ["c"] * 7])
    {'a': 1, 'c': 2}
    """
    counts = Counter(name for sentence in names for name in sentence)
    frequent = [name for name, count in counts.items() if count >= LEAST_WORDS]
    return {name: number for number, name in enumerate(frequent, 1)}


def _fillers(treebanks: Sequence[TreebankStates]) -> list[Float[Tensor, "word axis"]]:
    """The vectors of the words of all sentences: of each form the mean of its embeddings, on the longest axes."""
    sums: dict[str, Tensor] = {}
    counts, space = defaultdict[str, int](int), -len(UNCONTEXTUAL)
    pairs = [
        (sentence, array) for part in treebanks for sentence, array in zip(part.sentences, part.arrays, strict=True)
    ]
    for sentence, array in pairs:
        for form, vector in zip(sentence.forms, array[space].float(), strict=True):
            sums[form] = sums[form] + vector if form in sums else vector.clone()
            counts[form] += 1
    number = {form: at for at, form in enumerate(sums)}
    # In single precision LAPACK may not converge where forms lie on few of the axes.
    table = torch.stack([vector / counts[form] for form, vector in sums.items()]).double()
    table -= table.mean(0)
    energy, axes = torch.linalg.eigh(table.T @ table / len(table))
    axes = axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign()  # which LAPACK leaves open
    table = (table @ axes[:, -AXES:] / energy.mean().clamp_min(1e-12).sqrt()).float()
    return [table[[number[form] for form in sentence.forms]] for sentence, _ in pairs]


def _padded(
    rows: Sequence[Float[Tensor, "word axis"]], device: torch.device
) -> tuple[Float[Tensor, "sentence word axis"], Bool[Tensor, "sentence word"]]:
    """The vectors of words with zeros after those of a sentence, and which are none of these."""
    lengths = torch.tensor([len(row) for row in rows])
    return nn.utils.rnn.pad_sequence(list(rows), batch_first=True).to(device), (
        torch.arange(int(lengths.max())) < lengths[:, None]
    ).to(device)


def _role_ids(
    names: Sequence[Sequence[Hashable]], index: Mapping[Hashable, int], words: int, device: torch.device
) -> Int[Tensor, "sentence word"]:
    role_ids = torch.full((len(names), words), RARE)
    for row, sentence in enumerate(names):
        role_ids[row, : len(sentence)] = torch.tensor([index.get(name, RARE) for name in sentence])
    return role_ids.to(device)


def _fit(
    model: TensorProducts,
    padded: tuple[Tensor, Tensor],
    role_ids: Int[Tensor, "sentence word"],
    targets: Float[Tensor, "space sentence width"],
    seed: int,
    done: Callable[[int], None],
) -> None:
    """Adam on the squared error, with a learning rate that falls to 0."""
    order, sentences = np.random.default_rng(seed), len(role_ids)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * -(-sentences // BATCH))
    fillers, real = padded
    for _ in range(EPOCHS):
        for part in torch.from_numpy(order.permutation(sentences)).to(role_ids.device).split(BATCH):
            words = int(real[part].sum(1).max())
            guess = model(fillers[part, :words], role_ids[part, :words], real[part, :words])
            (guess - targets[:, part]).square().mean((1, 2)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            done(len(part))


def _score(
    error: Float[Tensor, "space sentence"],
    base: Float[Tensor, "space sentence"],
    draws: Float[np.ndarray, "resample sentence"],
) -> Score:
    """The error as a share of that of the mean, of each space."""
    errors, bases = error.T.double().cpu().numpy(), base.T.double().cpu().numpy()  # [sentence, space]
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = (draws @ errors) / (draws @ bases)
        mean = errors.sum(0) / bases.sum(0)
    return Score(mean, resampled, len(errors), float(effective_units(draws.sum(1))))
