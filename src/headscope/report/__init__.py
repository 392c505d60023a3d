"""Reports: a saved result as one offline page and figure files."""

from headscope.report.rebuild import is_whole, mark, rebuild, rebuild_all
from headscope.report.result_page import write

__all__ = ["is_whole", "mark", "rebuild", "rebuild_all", "write"]
