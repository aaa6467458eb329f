"""Finding the script in a reply: the one whole Python block, or none."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.environment.prompts import NoCodeError, python_block


@pytest.mark.parametrize(
    "reply",
    [
        "```python\na = 1\n```",
        "Sure!\n\n```python\na = 1\n```\nThat is it.",
        "```Python title=x.py\na = 1\n```\n",
        "   ```py\na = 1\n   ```   ",
        "Run it:\n```bash\npython x.py\n```\n```python3\na = 1\n```",
        "```python\na = 1\n```\nthen\n```bash\nls\n```",
        "````python\na = 1\n````",
        "```python\na = 1\n``````",
    ],
)
def test_the_block_is_found(reply):
    assert python_block(reply) == "a = 1\n"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no code block"),
        ("a = 1", "no code block"),
        ("```\na = 1\n```", "no code block"),
        ("```json\n{}\n```", "no code block"),
        ("``python\na = 1\n``", "no code block"),
        ("```python\na = 1\n", "never closed"),
        ("```python\na = 1```", "never closed"),
        ("```python", "never closed"),
        ("````python\na = 1\n```", "never closed"),
        ("```python\na\n```\n```python\nb\n```", "more than one"),
        ('```python\n"""\n```\nx\n```\n"""\n```', "inside or after"),
        ('```python\n"""\n```python\nx\n```\n"""\n```', "inside or after"),
    ],
)
def test_what_is_not_one_whole_block_is_refused(reply, why):
    with pytest.raises(NoCodeError, match=why):
        python_block(reply)


def test_fences_in_a_script_are_kept_inside_a_longer_fence():
    code = '"""\n```python\nx\n```\n"""\n'
    assert python_block(f"````python\n{code}````") == code
    indented = "def f():\n    ```\n"
    assert python_block(f"```python\n{indented}```") == indented


@given(st.text(alphabet="`python \n\t~a", max_size=200))
def test_any_reply_is_understood_or_refused(reply):
    with contextlib.suppress(NoCodeError):
        assert python_block(reply) in reply


@pytest.mark.parametrize("part", ["`", "```\n", "``` ", "```python\n", " ", "` "])
def test_a_huge_hostile_reply_takes_no_time(part):
    started = time.process_time()
    with pytest.raises(NoCodeError):
        python_block("```python\n" + part * 300_001 + "x")
    assert time.process_time() - started < 5
