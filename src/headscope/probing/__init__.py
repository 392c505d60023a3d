"""Parsers that see nothing but attention: how much of a dependency tree the heads know together."""
