"""Geometry of hidden states: anisotropy, how alike a word stays in its contexts, norms, and alike layers.

Ethayarajh 2019; Mickus et al. 2020; Timkey and van Schijndel 2021; Kornblith et al. 2019. Nothing is trained.
"""
