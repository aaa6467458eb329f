"""Continue the visible prompts and print how long that takes."""

import time
from pathlib import Path

from evaluate import read_question
from generate import generate, load


def main():
    model = load(Path("data"))
    for path in sorted(Path("data/inputs").iterdir()):
        prompts, new_tokens = read_question(path.read_bytes())
        began = time.perf_counter()
        generate(model, prompts, new_tokens)
        seconds = time.perf_counter() - began
        each = seconds / (len(prompts) * new_tokens)
        print(f"{path.name}: {seconds:.3f} s, {1000 * each:.1f} ms a token")


if __name__ == "__main__":
    main()
