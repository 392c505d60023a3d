"""The page of a study that has none of its own: what the dimensions of its variables suggest."""

from headscope.report.default_page import figures, findings

__all__ = ["figures", "findings"]
