"""Similarity of heads: divergences between all pairs of heads, heads as points of a plane, and clusters of them.

Clark et al. 2019, section 6 (Figure 6).
"""
