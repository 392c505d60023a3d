"""One pass of a model over a corpus: batches in, merged tallies out, labelled at the end."""

from headscope.engine.fold import fold
from headscope.engine.measure import run
from headscope.engine.settings import DEFAULTS, Settings

__all__ = ["DEFAULTS", "Settings", "fold", "run"]
