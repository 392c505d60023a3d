"""Compare models head by head: similarity of attention, and change of each measure.

Kovaleva et al. 2019, section 4.3 (Figure 5): a model before and after fine-tuning. Also epochs or seeds of one model.
"""
