"""Follow a training step by step: when each head changes, by how much, and in which order.

Kovaleva et al. 2019, section 4.3, compare a model before and after fine-tuning; this shows what lies between.
"""
