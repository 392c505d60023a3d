"""Coreference: which heads point from a mention at its antecedent, beside simple baselines on the same mentions.

Clark et al. 2019, section 4.3 (Table 2). Of GAP also the F1 by gender, of WinoBias and Winogender what stereotypes do.
"""
