"""The number constants of a script: found by parsing it, replaced in its text.

Only assignments of one literal number or truth value to an upper-case name at the top
level count. Nothing of the script is executed or evaluated.
"""

import ast

from mlagentbench.core.record import Record

Number = bool | int | float


class Constant(Record):
    """One setting of a script, and where it stands."""

    name: str
    value: Number
    line: int
    """Counts from 0."""
    start: int
    """In bytes of the line, as Python's parser counts."""
    end: int


def find_constants(source: str) -> list[Constant]:
    """Return the script's number constants; none where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = [_constant(node) for node in tree.body]
    return [constant for constant in found if constant is not None]


def with_values(
    source: str, constants: list[Constant], values: dict[str, Number]
) -> str:
    """Return the script with each constant set to its new value."""
    lines = source.split("\n")
    for constant in reversed(constants):  # Later ones first: columns stay valid.
        raw = lines[constant.line].encode()
        new = repr(values[constant.name]).encode()
        lines[constant.line] = (
            raw[: constant.start] + new + raw[constant.end :]
        ).decode()
    return "\n".join(lines)


def _constant(node: ast.stmt) -> Constant | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            return None
    number = _number(value)
    if number is None or not name.isupper() or value.end_col_offset is None:
        return None
    return Constant(
        name=name,
        value=number,
        line=value.lineno - 1,
        start=value.col_offset,
        end=value.end_col_offset,
    )


def _number(value: ast.expr) -> Number | None:
    match value:
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case _:
            return None
