"""A short run of `make chaos`."""

import os
import subprocess
import sys
from pathlib import Path


def test_killed_commands_go_on_and_end_with_the_same_bits() -> None:
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-m", "chaos.run", "--kills", "3"],
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
