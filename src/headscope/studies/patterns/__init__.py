"""Share of each head's attention maps with each of five patterns, and the pattern of most of its maps.

Kovaleva et al. 2019, section 4.1 (Figures 1 and 2): vertical, diagonal, vertical + diagonal, block, heterogeneous.
Their network and labelled maps came with the code of Prasanna, Rogers and Rumshisky (2020), without weights;
docs/patterns.md says how the classifier here was made, and how well it tells the patterns.
"""
