"""A model that says the lines of a test, and remembers what it was asked."""

from voices.classic import PLOT, as_text, beside_the_plot, fields, is_main


class Stage:
    """What is said, and what was asked."""

    def __init__(self):
        self.lines = []
        self.asked = []
        """The prompts of the agent itself."""
        self.helped = []
        """The prompts of helper and editor."""

    def begin(self, lines):
        self.lines = list(lines)
        self.asked = []
        self.helped = []


STAGE = Stage()


def speak(messages):
    """Say the next line, and keep the prompt that asked for it."""
    if not is_main(messages):
        STAGE.helped.append(messages[0].text)
        return beside_the_plot(messages)
    STAGE.asked.append(list(messages))
    return STAGE.lines.pop(0) if STAGE.lines else as_text(fields(messages), *PLOT[-1])
