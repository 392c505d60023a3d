"""Tasks of probing classifiers: one file for each family."""
