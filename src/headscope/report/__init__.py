"""Reports: a saved result as one offline page and figure files."""

from headscope.report.page import rebuild, rebuild_all, write

__all__ = ["rebuild", "rebuild_all", "write"]
