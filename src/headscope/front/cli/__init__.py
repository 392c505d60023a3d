"""The command line: `headscope STUDY [MODEL] [CORPUS] -o DIR`; commands are made from the catalog."""

from headscope.front.cli.app import main

__all__ = ["main"]
