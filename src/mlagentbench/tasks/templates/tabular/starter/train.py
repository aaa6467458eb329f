"""Predict strength with a few boosted trees on three columns.

Writes validation.csv and submission.csv (Id,strength).
"""

import os

import pandas as pd
from evaluate import mean_absolute_error
from sklearn.ensemble import GradientBoostingRegressor

COLUMNS = ["cement", "water", "days"]
TREES = 20
LEARNING_RATE = 0.05
MAX_DEPTH = 2


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")
    model = GradientBoostingRegressor(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        subsample=0.8,
        random_state=int(os.environ["MLAB_SEED"]),
    )
    model.fit(train[COLUMNS], train["strength"])
    for name, rows in (("validation", validation), ("submission", test)):
        predicted = model.predict(rows[COLUMNS])
        table = pd.DataFrame({"Id": rows["Id"], "strength": predicted})
        table.to_csv(f"{name}.csv", index=False)
    predicted = pd.read_csv("validation.csv")["strength"]
    error = mean_absolute_error(predicted, validation["strength"])
    print(f"validation mae={error:.4f}")


if __name__ == "__main__":
    main()
