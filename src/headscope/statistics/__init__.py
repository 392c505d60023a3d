"""Statistics of results: bootstrap intervals, tests of significance, false discovery rates."""
