"""Calibration of a classifier: the temperature and the rates of patterns that suit random maps."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.scores import Labels, Probabilities
from pattern_workshop.examples import is_boundary

# Maps of the classifier's own mixture that are counted beside those of the labels: a pattern without maps keeps a rate.
PSEUDO, ROUNDS = 10, 200

Rates = Float[np.ndarray, " pattern"]


def natural_maps(maps: Sequence[Map]) -> Bool[np.ndarray, " map"]:
    """True for the maps whose mixture of patterns is natural: random maps if there are any, else all."""
    natural = np.array([not is_boundary(labelled) for labelled in maps])
    return natural if natural.any() else ~natural


def rates(labels: Labels, probabilities: Probabilities) -> Rates:
    """What to multiply each pattern's odds by for the mean probability to be the pattern's share of the labels.

    Saerens et al. 2002, where the shares are known.

    >>> probabilities = np.array([[0.6, 0.4, 0, 0, 0]] * 1000)
    >>> rates(np.array([0] * 800 + [1] * 200), probabilities)[:2].round(1)
    array([1.3, 0.5])
    """
    if not len(labels):
        return np.ones(probabilities.shape[-1])
    own = probabilities.mean(0)
    wanted = (np.bincount(labels, minlength=len(own)) + PSEUDO * own) / (len(labels) + PSEUDO)
    found = np.ones(len(own))
    for _ in range(ROUNDS):
        found *= np.divide(wanted, at_rates(probabilities, found).mean(0), out=np.ones(len(own)), where=own > 0)
    return found


def at_rates(probabilities: Probabilities, rates: Rates) -> Probabilities:
    """Probabilities with odds multiplied by the rates of patterns; as `Classifier.natural`."""
    weighed = probabilities * rates
    return weighed / weighed.sum(-1, keepdims=True)


def loss(labels: Labels, probabilities: Probabilities) -> float:
    """The mean negative log-probability of the labels, in nats."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-9)).mean())


def softened(probabilities: Probabilities, temperature: float) -> Probabilities:
    """The probabilities after a division of the logits by a temperature."""
    powers = np.maximum(probabilities, 1e-9) ** (1 / temperature)
    return powers / powers.sum(-1, keepdims=True)


def temperature(labels: Labels, probabilities: Probabilities) -> float:
    """The temperature at which the labels are most likely."""
    tried = np.geomspace(0.25, 4, 161)
    return float(tried[np.argmin([loss(labels, softened(probabilities, one)) for one in tried])])
