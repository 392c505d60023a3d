"""Probe: how much of a dependency tree all heads know together, read off by parsers that see only attention.

Clark et al. 2019, section 5 (Table 3): parsers whose only inputs are attention, or attention and words, are trained on
a treebank and compared with parsers that see no attention, or that of a model with random weights.
"""
