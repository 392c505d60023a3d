"""What a study will take on this machine, said once, as soon as its first batches have been measured."""

import time
from collections.abc import Callable

from headscope.front.progress import duration

MEASURED, BATCHES = 2.0, 4  # seconds and steps of progress at least, before the rate is known
LONG = 20.0  # seconds; of a study that takes less nothing is said


class TimeNeeded:
    """Follows the progress of a study, and says once how long the rest will take, if that is long.

    The first step of progress only begins the measure: a model is slower at first, and what a checkpoint has is done
    at once.

    >>> needed = TimeNeeded("profile", 12_000, limited=False, say=print)
    >>> needed.line(170.0)
    'profile: about 3 min left at the rate of its first inputs, for 12,000 examples'
    """

    def __init__(self, study: str, examples: int | None, *, limited: bool, say: Callable[[str], None]):
        self.study, self.examples, self.limited, self.say = study, examples, limited, say
        self.total, self.done, self.said = examples or 0, 0, False
        self.measure_anew()

    def expect(self, total: int) -> None:
        """Take note of the total of inputs, known now or changed: what follows may be of another kind."""
        if total != self.total:
            self.measure_anew()
        self.total = total

    def measure_anew(self, *_: str) -> None:
        """Measure anew after a pass resumed from a checkpoint: its inputs count at once."""
        self.steps, self.began, self.before = 0, 0.0, 0

    def advance(self, done: int) -> None:
        """Take note of the inputs that are done since the last call."""
        if self.said or not done:
            return
        now = time.monotonic()
        self.done += done
        if not self.steps:
            self.began, self.before = now, self.done
        self.steps += 1
        if self.total and self.steps > BATCHES and now - self.began >= MEASURED:
            left = (now - self.began) * (self.total - self.done) / (self.done - self.before)
            if left > LONG:
                self.said = True
                self.say(self.line(left))

    def line(self, seconds: float) -> str:
        """The line for the seconds that are left."""
        of = f", for {self.examples:,} examples" if self.examples else ""
        fewer = "; --limit N uses fewer" if self.limited else ""
        return f"{self.study}: about {duration(seconds)} left at the rate of its first inputs{of}{fewer}"
