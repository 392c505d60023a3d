"""Syntax: which heads point at the syntactic head of a word, relation by relation, beside the best fixed word.

Clark et al. 2019, section 4.2 (Table 1): a word's head is the word that it attends to most, or that attends to it most.
"""
