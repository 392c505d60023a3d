"""Semantic relations: which heads link the words that a relation links, scored against links of the same distance."""
