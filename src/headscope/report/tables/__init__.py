"""Tables that a study lays out itself, as its paper does, one file for each study that has any."""

from headscope.report.tables._shown import shown

__all__ = ["shown"]
