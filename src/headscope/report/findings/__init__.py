"""Findings: sentences made from the numbers of a result, one file for each study."""

from headscope.report.findings_of import found

__all__ = ["found"]
