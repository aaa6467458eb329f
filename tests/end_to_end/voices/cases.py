"""Every agent that thinks, with a voice for each language it speaks."""

from voices import autogpt, bash, classic, langchain, modern, tree

CASES = [
    *modern.CASES,
    *classic.CASES,
    *tree.CASES,
    *bash.CASES,
    *autogpt.CASES,
    *langchain.CASES,
]
