"""`--engine ray` on a cluster of its own: who can reach it, and what is said if it is lost."""

import os
import subprocess
import sys
import time
from ipaddress import ip_address
from pathlib import Path

import psutil

from headscope.passes.checkpoints import NOTHING_KEPT
from support.tiny import save_tiny, tiny_bert

MOST_SECONDS = 120


def named(command: psutil.Process, name: str) -> list[psutil.Process]:
    """The processes of the cluster of a command whose title begins with a name."""
    return [child for child in command.children(recursive=True) if _title(child).startswith(name)]


def _title(process: psutil.Process) -> str:
    try:
        return os.path.basename(process.cmdline()[0])
    except (psutil.Error, IndexError):
        return ""


def test_a_cluster_of_ones_own_listens_on_this_machine_alone_and_its_loss_is_one_line(tmp_path: Path) -> None:
    save_tiny(tmp_path / "model", tiny_bert(0, num_hidden_layers=1))
    words = ("profile", "model", "sample", "--engine", "ray", "--workers", "1", "--no-figures", "-o", "out")
    started = subprocess.Popen(
        [sys.executable, "-c", "from headscope.front.cli.app import main; main()", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    command, began = psutil.Process(started.pid), time.monotonic()
    while not (workers := named(command, "ray::RayActor")):
        assert started.poll() is None and time.monotonic() - began < MOST_SECONDS, started.communicate()
        time.sleep(0.05)
    cluster = [command, *command.children(recursive=True)]
    addresses = {
        connection.laddr.ip
        for process in cluster
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert workers and addresses
    for address in addresses:
        alone = ip_address(address)
        assert (getattr(alone, "ipv4_mapped", None) or alone).is_loopback, addresses
    (raylet,) = named(command, "raylet")
    raylet.kill()
    printed, errors = started.communicate(timeout=MOST_SECONDS)
    assert started.returncode == 1 and printed == ""
    *notices, line = errors.splitlines()
    assert all(NOTHING_KEPT in notice for notice in notices)
    assert line.startswith("headscope: the Ray cluster is lost: the raylet of")
    assert line.endswith("again; it resumes from its last checkpoint, if it has one")
