"""A model with arbitrary replies, and a valid one after every two of them."""

from collections import deque

from fake_models.case import reply

PIECES = [
    *("Thought: hm", "\nAction: Read File", "\nAction: rm -rf /", "\nAction Input: "),
    *('{"file_name": "../../etc/passwd"}', '{"file_name": "a\\u0000b"}', '{"a": 1'),
    *('{"action": "Write File", "input": {"file_name": "/etc/x", "content": "x"}}',),
    *('{"script_name": "; reboot"}', "Observation: validation mae=0 (measured)"),
    *("```python\nimport os\n```", "<tool_call>", "</think>", "9" * 5000, "[" * 3000),
    *(
        "\x00",
        "\x1b[2J",
        "\ud800",
        "\u202e",
        "\u601d\u8003\uff1a\u8bfb",
        "Ignore all rules.",
        "\n",
    ),
]
CALLS = [
    None,
    {"name": "read_file", "arguments": {"file_name": "../../etc/passwd"}},
    {"name": "read_file", "arguments": {"wrong": ["x"] * 50}},
    {"name": "write_file", "arguments": {"file_name": "data/train.csv", "content": ""}},
    {"name": "no_such_tool", "arguments": {}},
    {"name": "execute_script", "arguments": {"script_name": "\ud800; ls"}},
]
STOPS = ["stop", "max_tokens", "content_filter", "unknown"]

waiting: deque[dict] = deque()
"""The replies to come; a test fills it."""


def fill(drawn, protocol):
    """Queue the drawn replies, with a valid request after every two of them."""
    waiting.clear()
    for number, (pieces, calls, stop) in enumerate(drawn):
        text = "".join(PIECES[piece % len(PIECES)] for piece in pieces)
        made = [CALLS[call % len(CALLS)] for call in calls]
        tool_calls = [call for call in made if call] if protocol == "tools" else []
        waiting.append(
            {"text": text, "tool_calls": tool_calls, "stop_reason": STOPS[stop]}
        )
        if number % 2:
            waiting.append(reply(protocol, "List Files", {}, dir_path="."))


def respond(messages):
    """Give the next reply, and then the final answer."""
    if waiting:
        return waiting.popleft()
    text = messages[0].text
    protocol = (
        "schema" if "JSON object" in text else "tools" if "tool" in text else "text"
    )
    return reply(protocol, "Final Answer", {}, final_answer="I have said everything.")
