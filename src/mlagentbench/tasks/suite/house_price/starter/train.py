"""Predict house prices with a few boosted trees on a handful of columns.

Writes validation.csv and submission.csv (Id,SalePrice) and prints the mean absolute
error on the validation rows.
"""

import os

import pandas as pd
from evaluate import mean_absolute_error
from sklearn.ensemble import GradientBoostingRegressor

COLUMNS = [
    "LotArea",
    "OverallQual",
    "YearBuilt",
    "TotalBsmtSF",
    "GrLivArea",
    "FullBath",
    "GarageCars",
]
TREES = 30
LEARNING_RATE = 0.03
MAX_DEPTH = 2
MIN_ROWS_PER_LEAF = 20


def features(houses):
    return houses[COLUMNS].fillna(0)


def write_predictions(path, houses, model):
    prices = model.predict(features(houses))
    table = pd.DataFrame({"Id": houses["Id"], "SalePrice": prices})
    table.to_csv(path, index=False)
    return prices


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")

    model = GradientBoostingRegressor(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_ROWS_PER_LEAF,
        max_features="sqrt",
        random_state=int(os.environ["MLAB_SEED"]),
    )
    model.fit(features(train), train["SalePrice"])

    guessed = write_predictions("validation.csv", validation, model)
    write_predictions("submission.csv", test, model)
    error = mean_absolute_error(guessed, validation["SalePrice"])
    print(f"validation mae={error:.1f}")


if __name__ == "__main__":
    main()
