"""Run the layer on the visible inputs and print how long that takes."""

import time
from pathlib import Path

from evaluate import unpack_cases
from layer import forward


def main():
    for path in sorted(Path("data/inputs").iterdir()):
        cases = list(unpack_cases(path.read_bytes()))
        began = time.perf_counter()
        for case in cases:
            forward(*case)
        print(f"{path.name}: {time.perf_counter() - began:.3f} s")


if __name__ == "__main__":
    main()
