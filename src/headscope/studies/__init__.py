"""One question of the papers per file; each has `run`, from a model and a corpus to a labelled result."""
