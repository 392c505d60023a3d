"""Make a model smaller and faster, and show what each removed part cost.

Whole layers, neurons of the feed-forward parts, heads, pieces of the vocabulary and positions are removed, such that an
ordinary class of transformers holds the rest. Fan et al. 2020 and Sajjad et al. 2023 drop layers, Voita et al. 2019 and
Michel et al. 2019 heads; Hinton et al. 2015 train the smaller model on the outputs of the larger one.
"""
