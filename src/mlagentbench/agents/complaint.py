"""What a failed execution says, in two lines a small model can use."""

import re

_LONGEST = 600
_PLACE = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>[0-9]{1,6})')


def complaint(told: str) -> str:
    """Return the exception and the last line of the script it came from."""
    lines = [line.rstrip() for line in told.splitlines() if line.strip()]
    places = [
        number
        for number, line in enumerate(lines)
        if (found := _PLACE.search(line)) and "/workspace/" in found["file"]
    ]
    if not places:
        return "\n".join(lines[-4:])[-_LONGEST:]
    place = places[-1]
    return "\n".join([*lines[place : place + 2], lines[-1]])[-_LONGEST:]
