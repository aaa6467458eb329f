"""Forecast blood values from the patient's own past with boosted and bagged trees.

Each row gets what was known at the forecast visit: the last values of every target,
their level and trend over earlier visits, and the other measurements of that day.
Values enter as log(value + 1), in which an absolute error is nearly what SMAPE counts;
for each target the models learn the change since the patient's last known value.
"""

import os

import numpy as np
import pandas as pd
from evaluate import smape_plus_one
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor

TARGETS = ["bilirubin", "alkaline", "sgot", "platelets"]
OTHERS = ["albumin", "prothrombin", "cholesterol"]
SIGNS = ["ascites", "hepatomegaly", "spiders"]
EDEMA = {"No edema": 0, "edema no diuretics": 1, "edema despite diuretics": 2}
SUMMARIES = ["last", "level", "mean", "first", "trend", "low", "high"]
BOOSTED, BAGGED = 400, 400
LEARNING_RATE = 0.03
MAX_DEPTH = 4
SHARE_OF_BOOSTED = 0.5
DAYS_OF_MEMORY = 500


def numeric(visits):
    table = visits.copy()
    table[TARGETS + OTHERS] = np.log1p(table[TARGETS + OTHERS])
    table[SIGNS] = (table[SIGNS] == "Yes").astype(float).where(table[SIGNS].notna())
    table["edema"] = table["edema"].map(EDEMA)
    table["female"] = (table["sex"] == "female").astype(float)
    table["treated"] = (table["drug"] == "D-penicil").astype(float)
    return table.drop(columns=["sex", "drug"])


def history(past, column, today):
    """Describe how a measurement went before today: last, level, trend, range."""
    known = past[past[column].notna()]
    if known.empty:
        return dict.fromkeys(SUMMARIES, np.nan)
    values, days = known[column].to_numpy(), known["day"].to_numpy()
    weights = np.exp((days - today) / DAYS_OF_MEMORY)
    trend = np.polyfit(days / 365, values, 1)[0] if len(values) > 1 else 0.0
    return {
        "last": values[-1],
        "level": np.average(values, weights=weights),
        "mean": values.mean(),
        "first": values[0],
        "trend": trend,
        "low": values.min(),
        "high": values.max(),
    }


def describe(past, visit):
    facts = visit.drop(TARGETS).to_dict()
    facts["gap"] = visit["day"] - past["day"].max() if len(past) else np.nan
    for column in TARGETS + OTHERS:
        found = history(past, column, visit["day"])
        facts |= {f"{column}_{name}": value for name, value in found.items()}
    for column in OTHERS:
        facts[f"{column}_change"] = visit[column] - facts[f"{column}_level"]
    return facts


def features(rows, visits):
    described = []
    for _, patient in numeric(visits).groupby("patient"):
        for place in range(len(patient)):
            described.append(describe(patient.iloc[:place], patient.iloc[place]))
    table = pd.DataFrame(described).astype(float)
    asked = rows[["patient", "visit", "months_ahead"]]
    return asked.merge(table, on=["patient", "visit"], how="left")


def inputs_of(table, target, medians):
    """Measure everything that concerns the target from its last known value."""
    filled = table.drop(columns="patient").fillna(medians)
    anchor = 0.5 * (filled[f"{target}_last"] + filled[f"{target}_level"])
    relative = [f"{target}_{name}" for name in ("last", "mean", "first", "low", "high")]
    moved = filled[relative].sub(anchor, axis=0).add_suffix("_moved")
    return pd.concat([filled, moved], axis=1), anchor


def fit(inputs, change, seed):
    boosted = GradientBoostingRegressor(
        loss="absolute_error",
        n_estimators=BOOSTED,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        max_features=0.3,
        subsample=0.5,
        min_samples_leaf=10,
        random_state=seed,
    )
    bagged = ExtraTreesRegressor(
        BAGGED, min_samples_leaf=5, max_features=0.5, random_state=seed
    )
    return boosted.fit(inputs, change), bagged.fit(inputs, change)


def main():
    parts = {
        part: (
            pd.read_csv(f"data/{part}_rows.csv"),
            pd.read_csv(f"data/{part}_visits.csv"),
        )
        for part in ("train", "validation", "test")
    }
    tables = {part: features(*files) for part, files in parts.items()}
    rows = parts["train"][0]
    medians = tables["train"].median()
    guesses = {part: parts[part][0].assign(value=0.0) for part in parts}
    for target in TARGETS:
        own = (rows["target"] == target) & (tables["train"]["visit"] > 1)
        inputs, anchor = inputs_of(tables["train"][own], target, medians)
        change = np.log1p(rows.loc[own, "value"]) - anchor
        models = fit(inputs, change, int(os.environ["MLAB_SEED"]))
        for part in ("validation", "test"):
            asked = parts[part][0]["target"] == target
            inputs, anchor = inputs_of(tables[part][asked], target, medians)
            boosted, bagged = (model.predict(inputs) for model in models)
            moved = SHARE_OF_BOOSTED * boosted + (1 - SHARE_OF_BOOSTED) * bagged
            guesses[part].loc[asked, "value"] = np.expm1(anchor + moved).clip(lower=0)

    for part, path in (("validation", "validation.csv"), ("test", "submission.csv")):
        guesses[part][["prediction_id", "value"]].to_csv(path, index=False)
    actual = pd.read_csv("data/validation.csv")["value"]
    error = smape_plus_one(guesses["validation"]["value"], actual)
    print(f"validation smape={error:.3f}")


if __name__ == "__main__":
    main()
