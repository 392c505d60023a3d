"""Mentions, cases and answers made by hand, and what a reader answers."""
