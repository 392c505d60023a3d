"""One question of the papers per file; each has `run`, which takes a model and a corpus and returns a labelled result."""
