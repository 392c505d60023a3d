"""Training: what did it change?"""
