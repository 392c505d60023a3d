"""The parts of a report: findings and figures."""

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import xarray as xr

from headscope.report.claims import Claim, Verdict, wanted_in_words
from headscope.report.wording import Cell, Estimate, number, of_array

if TYPE_CHECKING:
    from headscope.report.tables import Table


@dataclass(frozen=True, slots=True)
class Finding:
    """Sentences about one topic, made from the numbers of a result.

    Without a claim it describes: its topic names what was measured, and no best or first of many.

    >>> Finding("Neighbours", "No head puts more than half of its attention on the next token.").record()["verdict"]
    """

    topic: str
    text: str
    claim: Claim | None = None

    @classmethod
    def judged(cls, claim: Claim, text: str, *, holds: str, fails: str, undecided: str, unit: str) -> "Finding":
        """A claim with its topic for each verdict: no topic says more than the test gave.

        * `unit`: of the cases of the claim: an undecided one says how many would decide it. Empty where the text
          says it already, or more cases would not narrow the interval.

        >>> from headscope.report.claims import above
        >>> from headscope.report.wording import Estimate
        >>> claim = above(Estimate(0.2, 0.1, 0.3), 0.5, 100)
        >>> Finding.judged(claim, "20%.", holds="Most do", fails="Few do", undecided="Too few to tell", unit="").topic
        'Few do'
        """
        if unit and claim.verdict == "undecided":
            text += wanted_in_words(claim, unit)
        return cls({"holds": holds, "fails": fails, "undecided": undecided}[claim.verdict], text, claim)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the claim; None for a description."""
        return self.claim and self.claim.verdict

    @property
    def effect(self) -> float:
        """How large the effect of a claim that holds is; 0 for all others."""
        return self.claim.effect if self.claim and self.verdict == "holds" else 0.0

    def record(self) -> dict[str, Any]:
        """The finding with the numbers of its claim, as programs read it; None for what a description lacks."""
        claim = self.claim
        numbers: dict[str, Any] = dict.fromkeys(("value", "baseline", "difference", "interval", "n", "q"))
        if claim:
            bounds = claim.difference
            numbers = {"value": claim.value, "baseline": claim.baseline, "difference": bounds.value}
            numbers |= {"interval": [bounds.lower, bounds.upper] if bounds.tested else None}
            numbers |= {"n": claim.n, "q": claim.q}
        return {"topic": self.topic, "text": self.text, "verdict": self.verdict} | numbers


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its place in the report: the stem of its files, its heading, an Altair chart, what it shows.

    * `variable`: the variable whose table is its alternative; `table`: an alternative of its own.
    """

    name: str
    section: str
    chart: Any
    caption: str
    variable: str
    table: "Table | None" = None


@dataclass(frozen=True, slots=True)
class HeadKind:
    """A kind that a head has by measured numbers.

    * `kind`: a key of `kinds.COLOURS`; `word`: its label under the map of the head ("det", "previous").
    """

    layer: int
    head: int
    kind: str
    word: str


@dataclass(frozen=True, slots=True)
class LayerNumber:
    """A number of every layer, for the page that shows what each layer knows.

    * `topic`: the heading under which it stands; `words`: its name there.
    * `array`: [layer], with the coordinates `lower` and `upper` where it has an interval; layer 0 are the embeddings.
    * `chosen`: the layer that other data than those of the number have chosen, if any have.
    * `is_share`: whether it is written in per cent.
    * `is_needed`: whether it says how much depends on the layer, more where it is greater.
    """

    topic: str
    words: str
    array: xr.DataArray
    chosen: int | None = None
    is_share: bool = True
    is_needed: bool = False

    @property
    def layers(self) -> list[int]:
        """Its layers."""
        return [int(layer) for layer in self.array["layer"].values]

    def at(self, layer: int) -> Estimate:
        """The number in a layer, with its interval; NaN where it has none."""
        return of_array(self.array.sel(layer=layer)) if layer in self.layers else Estimate(nan)

    def cell(self, layer: int) -> Cell | None:
        """The number in a layer as the cell of a table; None where it has none."""
        return self.at(layer).known_cell(".1f", 100) if self.is_share else self.at(layer).known_cell()

    def words_at(self, layer: int) -> str:
        """The number in a layer as the grid writes it, without its interval; empty where it has none.

        >>> array = xr.DataArray([0.5, 0.734], {"layer": [1, 2]}, ("layer",))
        >>> LayerNumber("Trees", "root", array, 2).words_at(2)
        '73.4%'
        """
        share = self.at(layer).value
        return "" if isnan(share) else f"{share:.1%}" if self.is_share else number(share)
