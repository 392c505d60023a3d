"""Attention, observed and changed at one place: the attention function of transformers, or the softmax."""
