"""What a study declares of itself, in the `__init__.py` of its folder: the labels of its numbers, and what it needs.

From this come the labels of its results, their lists in help and docs, its place in the lists of studies, and its part
of a survey. It imports nothing, so that help and pages need no torch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

WHOLE = (0, 2**32 - 1)
FORWARD = 0.32  # seconds of a forward pass of the built-in model over 1,000 tokens, on one core


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a study's numbers.

    * `what`: what its labels are, in words.
    * `labels`: text; whole numbers, from `least` to `most`; shares from 0 to 1; or steps of any size.
    """

    what: str
    labels: Literal["text", "whole", "share", "step"] = "text"
    least: int = WHOLE[0]
    most: int = WHOLE[1]


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the results of a study have, or may have.

    * `name`: of the variable; `what`: what it is, in a few words, and `unit`: its unit. They are its labels.
    * `dims`: its dimensions; `source`: paper and section, by default those of the study.
    * `definition`: what it is exactly, for the docs, where a few words do not say it.
    """

    name: str
    what: str
    unit: str
    dims: tuple[str, ...] = ()
    source: str | None = None
    definition: str = ""


def by_name(numbers: Iterable[Number]) -> dict[str, Number]:
    """Numbers by their names.

    >>> by_name([Number("score", "share of right answers", "share")])["score"].unit
    'share'
    """
    return {number.name: number for number in numbers}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of head, for the atlas, which the card of a study gives to heads.

    * `rank`: the main kind of a head is that with the lowest rank, the most specific one; `colour`: its own.
    * `meaning`: what heads of the kind do; `word`: the name in words, where it is not `name`.
    """

    rank: int
    name: str
    colour: str
    meaning: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a study takes with the built-in model, in seconds for 1,000 tokens.

    * `passes`: forward passes over its texts; `own`: further seconds of each; `after`: seconds after them.
    * `words`: predictions of words for each token of the texts, in all passes, by a model that makes any.
    * `fixed`: seconds, whatever the texts; `complete`: further ones with `--full`; `cells`: MiB for 1,000 tokens.
    * `tokens`: those of its own inputs, read once; `swept`: of these, those that a model of next words reads again
      without each head and each layer.
    * `untrained`: whether it reads models of random weights, one at a time beside the model.
    * `most`: sentences that it takes unless all are asked for; 0 for all. `scored`: inputs that are read many times.
    """

    passes: float
    own: float
    after: float = 0.0
    words: float = 0.0
    fixed: float = 1.0
    complete: float = 0.0
    tokens: int = 0
    swept: int = 0
    untrained: bool = False
    cells: float = 0.0
    most: int = 0
    scored: int = 0

    @property
    def seconds(self) -> float:
        """Seconds for 1,000 tokens."""
        return self.passes * (FORWARD + self.own) + self.after


@dataclass(frozen=True, slots=True)
class InSurvey:
    """The place of a study in a survey.

    * `needs`: what it needs of the data: text, treebank, links, mentions or task; `cost`: what it takes.
    * `several`: whether it reads several corpora at once; `options`: its options there.
    """

    needs: Literal["text", "treebank", "links", "mentions", "task"]
    cost: Cost
    several: bool = False
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A study.

    * `question`: what it answers, and `page`: its page in docs/, by default NAME.md, for the lists in the docs.
    * `source`: paper and section of numbers that name no other.
    * `numbers`: all numbers that its results may have, in the order of the docs, and `required` those that every
      result has, and no other study has together. Of a family of numbers, a number for each of some names, the name
      has a `*`: "chosen_*".
    * `measures`: those whose numbers it has, too; a measure declares its own.
    * `dims`: its own dimensions, beside those of `results.vocabulary`; `coords`: coordinates along other dimensions,
      each with the kind of its values (U for text, i, f) and these dimensions.
    * `attributes`: its own attributes that are no text: number, object, list, or counts, an object of numbers.
    * `kinds`: of heads, that its numbers show and no other study has.
    * `attention`: whether it reads attention: its page says what that does not show.
    * `survey`: its place in a survey; of a study that a survey does not run what it needs instead.
    * `example`: a command that runs it, where `headscope NAME minilm sample -o out` does not.
    * `options`: its defaults of options that studies share; `without`: shared options that have no effect on it.
    * `packages`: packages of an extra that it needs, each with the option that asks for it: "epochs" if that is not 0,
      "ways=lora" if that is among its words, or "" in any case.
    * `shared_folder`: whether workers of a cluster write into the folder of the result.
    * `quick`: options that make it quick, for tests.
    """

    source: str
    required: tuple[str, ...]
    numbers: tuple[Number, ...] = ()
    measures: tuple[str, ...] = ()
    question: str = ""
    page: str = ""
    dims: Mapping[str, Dimension] = field(default_factory=dict)
    coords: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    attributes: Mapping[str, Literal["number", "object", "list", "counts"]] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    attention: bool = False
    survey: InSurvey | str = ""
    example: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    shared_folder: bool = False
    quick: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, Number]:
        """The numbers by name."""
        return by_name(self.numbers)
