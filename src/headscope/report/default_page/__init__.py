"""The page of a study that has none of its own: what the dimensions of its variables suggest."""
