"""A model that works for one step; then its requests fail with a chosen error."""

from fake_models.case import reply, turns

error: Exception = RuntimeError("not set")


def respond(messages):
    """Run the starter, then raise the error."""
    if turns(messages):
        raise error
    return reply("text", "Run Command", {}, command="python train.py")
