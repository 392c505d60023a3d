"""Durations of the phases of a command."""

import time


class Clock:
    """Seconds that each phase of a command takes.

    >>> clock = Clock()
    >>> clock.stop("loading")
    >>> clock.stop("profile")
    >>> str(clock)
    '0.0 s: loading 0.0, profile 0.0'
    """

    def __init__(self) -> None:
        self.last, self.seconds = time.monotonic(), dict[str, float]()

    def stop(self, phase: str) -> None:
        """End a phase; the next one begins."""
        now = time.monotonic()
        self.seconds[phase], self.last = now - self.last, now

    def __str__(self) -> str:
        phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in self.seconds.items())
        return f"{sum(self.seconds.values()):.1f} s: {phases}"
