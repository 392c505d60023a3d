"""All studies that a model and some data allow: the plan, and the run."""
