"""Gradient of a loss with respect to the attention to separators, punctuation and other tokens.

Clark et al. 2019, section 3.2 (Figure 3): the size of the gradient of the loss by each attention weight.
"""
