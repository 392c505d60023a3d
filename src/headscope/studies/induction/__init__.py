"""Heads that repeat, copy, look at the first token, or look far back."""
