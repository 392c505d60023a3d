"""Attention and its statistics a tile at a time, on a GPU: what a profile reads, without a map."""
