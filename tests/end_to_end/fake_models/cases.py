"""Every agent that uses a model, in each of its protocols."""

from fake_models import autogpt, bash, langchain, paper, research, tree

CASES = [
    *research.CASES,
    *paper.CASES,
    *tree.CASES,
    *bash.CASES,
    *autogpt.CASES,
    *langchain.CASES,
]
