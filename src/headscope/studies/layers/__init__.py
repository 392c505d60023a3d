"""Layers: what do the states of each layer hold?"""
