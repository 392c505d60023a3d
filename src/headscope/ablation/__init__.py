"""Exact re-runs of a model with heads disabled."""
