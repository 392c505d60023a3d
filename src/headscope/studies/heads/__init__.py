"""Heads: what does each head do?"""
