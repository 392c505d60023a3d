"""Remove the heads that matter least, and save a model that is really smaller.

Michel et al. 2019, section 4: heads go in the order of their importance, a share at a time, while the score is
watched. Here their rows and columns are cut out of the weights, and the model can be trained in between.
"""
