"""Reports: a saved result as one offline page and figure files."""

from headscope.report.page import write
from headscope.report.rebuild import rebuild, rebuild_all

__all__ = ["rebuild", "rebuild_all", "write"]
