"""A good model for the tree search: it writes a script that fails, then fixes it."""

import re

from fake_models.case import Case, improved

_SHOWN = re.compile(r"```+text\n(.*?)\n```+", re.DOTALL)


def respond(messages):
    """Write a script: the first improvement fails, the fixed one is better."""
    question = messages[-1].text
    shown = _SHOWN.search(question)[1]
    if "This script fails" in question:
        return _block(
            improved(shown.replace("import nonsense_that_is_not_there\n", ""))
        )
    if "TREES = 80" in shown:
        return {"text": "I have no better idea."}
    return _block(f"import nonsense_that_is_not_there\n{shown}")


def _block(script):
    return {"text": f"Here it is.\n\n```python\n{script}\n```\n"}


CASES = [
    Case("tree", "fake_models.tree:respond"),
    Case("tree", "fake_models.tree:respond", {"ideas": "generic", "drafts": "1"}),
]
