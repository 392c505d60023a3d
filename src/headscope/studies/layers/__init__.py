"""Layers: the knowledge that probing classifiers read from the hidden states of each layer.

Parts of speech, chunks, dependencies, entities, coreference, sentences, numbers: after Tenney et al. 2019, Liu et al.
2019, Conneau et al. 2018, Lin et al. 2019 and Wallace et al. 2019; classifiers of all layers and tasks train together.
"""
