"""A worker of a cluster whose shards are small."""

from typing import Any

from headscope.front.cli import compute
from headscope.passes import shards

EXAMPLES = 6


def work(job: bytes, engine: Any) -> None:
    """Run a study in a worker."""
    shards.EXAMPLES = EXAMPLES
    compute.work(job, engine)
