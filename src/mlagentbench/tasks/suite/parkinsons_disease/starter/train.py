"""Forecast blood values with a small random forest on the month alone.

Writes validation.csv and submission.csv (prediction_id,value) and prints the SMAPE
of the validation forecasts.
"""

import os

import numpy as np
import pandas as pd
from evaluate import smape_plus_one
from sklearn.ensemble import RandomForestRegressor

TREES = 5
MAX_DEPTH = 12
MIN_ROWS_PER_LEAF = 2
SHARE_OF_ROWS = 0.2
LOG_TARGET = False
DAYS_PER_MONTH = 365.25 / 12


def features(rows, visits):
    """Give the month of the study in which the value was or will be measured."""
    dated = rows.merge(visits[["patient", "visit", "day"]], on=["patient", "visit"])
    return (dated["day"] / DAYS_PER_MONTH + dated["months_ahead"]).to_frame("month")


def fit_one_target(months, values):
    forest = RandomForestRegressor(
        n_estimators=TREES,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_ROWS_PER_LEAF,
        max_samples=min(SHARE_OF_ROWS, 1.0),
        random_state=int(os.environ["MLAB_SEED"]),
    )
    return forest.fit(months, np.log1p(values) if LOG_TARGET else values)


def predict(forests, rows, visits):
    months = features(rows, visits)
    values = pd.Series(0.0, index=rows.index)
    for target, forest in forests.items():
        asked = rows["target"] == target
        forecast = forest.predict(months[asked])
        values[asked] = np.expm1(forecast) if LOG_TARGET else forecast
    return pd.DataFrame({"prediction_id": rows["prediction_id"], "value": values})


def main():
    rows = pd.read_csv("data/train_rows.csv")
    months = features(rows, pd.read_csv("data/train_visits.csv"))
    forests = {
        target: fit_one_target(months.loc[group.index], group["value"])
        for target, group in rows.groupby("target")
    }

    for part, path in (("validation", "validation.csv"), ("test", "submission.csv")):
        asked = pd.read_csv(f"data/{part}_rows.csv")
        visits = pd.read_csv(f"data/{part}_visits.csv")
        predict(forests, asked, visits).to_csv(path, index=False)

    guessed = pd.read_csv("validation.csv")["value"]
    actual = pd.read_csv("data/validation.csv")["value"]
    print(f"validation smape={smape_plus_one(guessed, actual):.3f}")


if __name__ == "__main__":
    main()
