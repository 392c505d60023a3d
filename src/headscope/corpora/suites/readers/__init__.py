"""Readers of suites: `SUITES` has the files of each suite, and a function of its name yields the items of a file."""
