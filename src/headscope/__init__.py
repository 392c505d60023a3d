"""headscope: what every attention head of a transformer does."""

__version__ = "0.1.0"
