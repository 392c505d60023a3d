"""Linguistic annotation of words: dependencies, features, and trees made from scores."""
