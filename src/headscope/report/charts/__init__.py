"""The figures of a report, one file for each study."""

from headscope.report.figures_of import drawn

__all__ = ["drawn"]
