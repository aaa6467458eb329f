"""A good model for LangChain's agent."""

from fake_models.case import Case, improved, last_python, reply, turns


def respond(messages):
    """Reply with a tool call."""
    match turns(messages):
        case 0 | 3:
            return reply("tools", "Execute Script", {}, script_name="train.py")
        case 1:
            return reply("tools", "Read File", {}, file_name="train.py")
        case 2:
            given = {
                "file_name": "train.py",
                "content": improved(last_python(messages)),
            }
            return reply("tools", "Write File", {}, **given)
        case _:
            return reply("tools", "Final Answer", {}, final_answer="It helped.")


CASES = [Case("langchain", "fake_models.langchain:respond")]
