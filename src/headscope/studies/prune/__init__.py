"""Remove the least important heads, and save the smaller model.

Michel et al. 2019, section 4: heads are removed in the order of their importance, some at a time, and the score is
measured after each step. Here their rows and columns are cut out of the weights, and the model can be trained after
each step.
"""
