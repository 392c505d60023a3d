"""Reports: a saved result as one offline page and figure files."""

from headscope.report.page import rebuild, write

__all__ = ["rebuild", "write"]
