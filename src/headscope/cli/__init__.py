"""The command line: `headscope STUDY [MODEL] [CORPUS] -o DIR`; commands are made from the catalog."""

from headscope.cli.app import main

__all__ = ["main"]
