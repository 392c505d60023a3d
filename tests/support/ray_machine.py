"""A cluster of one machine, whose workers find the package `support`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

import support


def find_support(patch: pytest.MonkeyPatch) -> None:
    """Let processes that are started find the package `support`."""
    patch.setenv("PYTHONPATH", str(Path(support.__path__[0]).parent), prepend=os.pathsep)


@contextmanager
def cluster_of(processors: int) -> Iterator[Cluster]:
    """A cluster of one machine with so many processors, which is shut down at the end of the context."""
    with pytest.MonkeyPatch.context() as patch:
        find_support(patch)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": processors, "include_dashboard": False})
        yield made
        made.shutdown()
