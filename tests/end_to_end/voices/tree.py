"""What a good model writes for the tree search: a mistake, then its mending."""

import re

from voices.case import Case, improved

_SHOWN = re.compile(r"```+text\n(.*?)\n```+", re.DOTALL)


def writing(messages):
    """Write a script: the first improvement fails, the mended one is better."""
    asked = messages[-1].text
    shown = _SHOWN.search(asked)[1]
    if "This script fails" in asked:
        return _block(
            improved(shown.replace("import nonsense_that_is_not_there\n", ""))
        )
    if "TREES = 80" in shown:
        return {"text": "I have no better idea."}
    return _block(f"import nonsense_that_is_not_there\n{shown}")


def _block(script):
    return {"text": f"Here it is.\n\n```python\n{script}\n```\n"}


CASES = [
    Case("tree", "voices.tree:writing"),
    Case("tree", "voices.tree:writing", {"ideas": "generic", "drafts": "1"}),
]
