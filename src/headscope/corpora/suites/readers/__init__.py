"""Readers of suites: a module a suite, with the `FILES` that it reads and `items(files)`."""
