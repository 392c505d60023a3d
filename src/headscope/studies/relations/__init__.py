"""Relations: which heads link frame elements to their frame, dependents to their heads, or any words that you link.

Kovaleva et al. 2019, section 4.2 (Figure 3) and 4.5; beside it links elsewhere in the sentence, and an untrained model.
"""
