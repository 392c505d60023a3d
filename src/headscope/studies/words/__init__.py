"""Words: which words matter, and which does the model prefer?"""
