"""The figures of a report, one file for each study."""

from headscope.report.charts._drawn import drawn

__all__ = ["drawn"]
