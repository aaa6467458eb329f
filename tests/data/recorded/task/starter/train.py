"""Boost averages over equal slices of x.

Writes validation.csv and submission.csv (Id,y).
"""

import csv
import os
import random

TREES = 4
LEARNING_RATE = 0.2
MAX_DEPTH = 2
KEEP = 30


def read(name):
    with open(f"data/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def slice_of(row):
    return int(float(row["x"]) * 2**MAX_DEPTH)


def fitted(rows):
    levels = {slice_of(row): 0.0 for row in rows}
    for _ in range(TREES):
        for part in levels:
            left = [
                float(row["y"]) - levels[part] for row in rows if slice_of(row) == part
            ]
            levels[part] += LEARNING_RATE * sum(left) / len(left)
    return levels


def write(path, rows, levels):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["Id", "y"])
        table.writerows([row["Id"], levels.get(slice_of(row), 0.0)] for row in rows)


def main():
    rows = read("train")
    chance = random.Random(os.environ["MLAB_SEED"])
    levels = fitted(chance.sample(rows, min(KEEP, len(rows))))
    write("validation.csv", read("validation"), levels)
    write("submission.csv", read("test"), levels)


if __name__ == "__main__":
    main()
