"""Attention of each token to itself, by head.

Copy this file to a name of your own: the command `headscope NAME`, its line in `headscope list`, its
report and its contract tests follow. The first line of this docstring is what they show.
"""
