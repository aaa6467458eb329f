"""Make files whose names forge lines, colour a terminal or are no text at all."""

from evidence import failed

NAMES = (
    b"a\nforged.csv",
    b"\x1b[31mred",
    b"\xff\xfe",
    b"-rf",
    b" ",
    b"\xe2\x80\xaecod.exe",
    b"\x07bell",
    b"back\x08\x08",
    b"\xc2\x9b31m",
)
for name in NAMES:
    with open(b"./" + name, "wb"):
        pass
failed("the names are planted; what the harness shows of them shows later")
