"""Size: which heads does a task need?"""
