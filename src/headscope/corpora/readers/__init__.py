"""Readers of corpora: one kind of source per file."""
