"""Write 600 MB as files of 1 MB."""

from evidence import take

number = 0


def piece():
    global number
    for _ in range(10):
        with open(f"{number}.bin", "wb") as file:
            file.write(b"x" * 10**6)
        number += 1


take(600, 10, piece)
