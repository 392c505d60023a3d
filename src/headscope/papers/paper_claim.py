"""Claims of papers as data: what each says, and the number and the rule that decide it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headscope.papers.entry_file import ClaimedNumber


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper, and the statistic and the rule that decide it.

    * `id`, `version`: of the entry; `section`: of the paper; `claim`: in our words.
    * `study`: whose results decide it; "" if headscope cannot measure it. `command`: what makes such a result.
    * `options`: how that result was made: options of its study, and their values.
    * `unless`: variables of its study; a result that has one is of other inputs, and does not decide it.
    * `needs`: what headscope would need to measure it; only without a study.
    * `rule`: a name of `RULES`; `number`, `than`: numbers of the result; `limit`: the rule's threshold.
    * `figure`: what the paper found; `source`: where that stands; `level`: how sure it is (P read in the paper, R from
      released results, S a secondary copy, ~ read off a plot).
    * `procedure`: whether it speaks of a way of training: its interval is over seeds too, and one seed decides nothing.
    """

    id: str
    section: str
    claim: str
    study: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    unless: tuple[str, ...] = ()
    rule: str = ""
    number: ClaimedNumber | None = None
    than: ClaimedNumber | None = None
    limit: float = 0.0
    figure: str = ""
    source: str = ""
    level: str = ""
    command: str = ""
    needs: str = ""
    procedure: bool = False
    version: int = 1


@dataclass(frozen=True)
class Paper:
    """A paper, and its claims in its order."""

    name: str
    title: str
    claims: tuple[PaperClaim, ...]
