"""Compare models head by head: how alike is their attention, what has changed, and which layers changed most.

Kovaleva et al. 2019, section 4.3 (Figure 5): a model before and after fine-tuning; also epochs or seeds of one.
"""
