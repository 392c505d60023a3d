"""Head ablation: a task's score with each head, each layer, or any set of heads disabled.

Kovaleva et al. 2019, section 4.6; beside it head importance by gradient (Michel et al. 2019) and how well it agrees.
"""
