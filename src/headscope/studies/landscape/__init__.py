"""Loss around a fine-tuned model: along the line from its start, and over random directions.

Hao et al. 2019, section 3: the loss along the straight line from the weights before fine-tuning to those after it, and
over the plane of two directions; from pre-trained and from random weights with the same axes. Directions are drawn with
filters of equal norm (Li et al. 2018, section 4).
"""
