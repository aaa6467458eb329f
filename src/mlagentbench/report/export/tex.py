"""Text that LaTeX prints as it is, whoever wrote it."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    # Two of them would become one dash.
    "-": r"{-}",
}
_LONGEST = 200


def escaped(text: str) -> str:
    """Write text without any command; what is not ASCII becomes a question mark."""
    return "".join(map(_character, text[:_LONGEST]))


def _character(one: str) -> str:
    if not (one.isascii() and one.isprintable()):
        return " " if one.isspace() else "?"
    return _SPECIAL.get(one, one)
