"""The five attention patterns of Kovaleva et al. 2019, section 4.1: labelled maps, and a classifier that tells them."""
