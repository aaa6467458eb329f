"""What a good model says to LangChain's agent."""

from voices.case import Case, improved
from voices.speaking import last_python, say, turns


def tools(messages):
    """Speak by calling tools."""
    match turns(messages):
        case 0:
            return say("tools", "Execute Script", {}, script_name="train.py")
        case 1:
            return say("tools", "Read File", {}, file_name="train.py")
        case 2:
            better = improved(last_python(messages))
            return say("tools", "Write File", {}, file_name="train.py", content=better)
        case 3:
            return say("tools", "Execute Script", {}, script_name="train.py")
        case _:
            return say("tools", "Final Answer", {}, final_answer="It helped.")


CASES = [Case("langchain", "voices.langchain:tools")]
