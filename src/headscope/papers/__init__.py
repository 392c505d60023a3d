"""Claims of papers, and the verdict of saved results on each."""

from headscope.papers.paper_claim import Paper, PaperClaim, read_papers
from headscope.papers.verdicts import Judgement, judge

__all__ = ["Judgement", "Paper", "PaperClaim", "judge", "read_papers"]
