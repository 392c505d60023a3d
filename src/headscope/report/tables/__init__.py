"""Tables that a study lays out itself, as its paper does, one file for each study that has any."""

from headscope.report.tables_of import shown

__all__ = ["shown"]
