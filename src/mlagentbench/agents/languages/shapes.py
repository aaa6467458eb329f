"""JSON schemas of what a model is held to."""

from inspect_ai.util import JSONSchema

from mlagentbench.environment.action import Action


def exactly(properties: dict[str, JSONSchema]) -> JSONSchema:
    """Return an object that has these properties and no others."""
    return JSONSchema(
        type="object",
        properties=properties,
        required=list(properties),
        additionalProperties=False,
    )


def inputs_of(actions: tuple[Action, ...]) -> JSONSchema:
    """Return what any of these actions may be given: texts by their keys."""
    # Many actions take the same keys; the same shape twice would only slow a grammar.
    shapes = dict.fromkeys(tuple(action.parameters) for action in actions)
    inputs = [
        exactly({key: JSONSchema(type="string") for key in shape}) for shape in shapes
    ]
    return inputs[0] if len(inputs) == 1 else JSONSchema(anyOf=inputs)
