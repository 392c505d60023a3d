"""Trees, attention and answers made by hand, and the answers once more in loops."""
