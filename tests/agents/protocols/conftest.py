"""A reply format, and replies as a provider would return them."""

import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
from inspect_ai.tool import ToolCall

from mlagentbench.agents.protocols.reply_protocol import ReplyFormat
from mlagentbench.environment.actions import ACTIONS


@pytest.fixture(scope="session")
def reply_format():
    listed = ("Read File", "Write File", "Execute Script", "Check Submission")
    return ReplyFormat(
        actions=tuple(ACTIONS[name] for name in (*listed, "Final Answer")),
        fields=("Research Plan and Status", "Thought"),
        accepted=(ACTIONS["Append File"],),
    )


@pytest.fixture(scope="session")
def reply():
    def make(text="", calls=(), *, stop="stop", parse_error=None):
        made = [
            ToolCall(f"call-{number}", name, arguments, parse_error)
            for number, (name, arguments) in enumerate(calls)
        ]
        message = ChatMessageAssistant(content=text, tool_calls=made or None)
        choice = ChatCompletionChoice(message=message, stop_reason=stop)
        return ModelOutput(model="m", choices=[choice])

    return make
