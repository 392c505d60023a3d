"""Profile every head: where its attention goes, how far, how widely it spreads, and which words it looks at.

Clark et al. 2019, section 3, and Kovaleva et al. 2019, sections 4.4 and 4.5, in one pass over the corpus.
"""
