"""Pairs of sentences on which shortcuts of inference fail, made from templates and a lexicon of our own.

After McCoy et al. (2019), whose three heuristics these are; no sentence is theirs.
"""
