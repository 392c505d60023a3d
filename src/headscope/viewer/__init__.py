"""Attention of a text, looked at and touched: a local page that is served on this machine alone."""
