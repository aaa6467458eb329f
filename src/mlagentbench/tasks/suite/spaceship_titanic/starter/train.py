"""Predict who was transported with boosted stumps on a handful of columns.

Writes validation.csv and submission.csv (PassengerId,Transported) and prints the
accuracy on the validation passengers.
"""

import os

import pandas as pd
from evaluate import accuracy
from sklearn.ensemble import GradientBoostingClassifier

NUMBERS = ["Age", "FoodCourt", "ShoppingMall"]
CATEGORIES = ["HomePlanet", "Destination", "VIP"]
TREES = 80
LEARNING_RATE = 0.04
MAX_DEPTH = 1
MIN_ROWS_PER_LEAF = 300
ROWS_PER_TREE = 1000


def features(passengers):
    table = passengers[NUMBERS].fillna(0)
    return table.join(pd.get_dummies(passengers[CATEGORIES].astype("string")))


def fit(train):
    model = GradientBoostingClassifier(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_ROWS_PER_LEAF,
        subsample=min(1.0, ROWS_PER_TREE / len(train)),
        random_state=int(os.environ["MLAB_SEED"]),
    )
    return model.fit(features(train), train["Transported"])


def write_predictions(path, passengers, model):
    transported = model.predict(features(passengers))
    ids = passengers["PassengerId"]
    table = pd.DataFrame({"PassengerId": ids, "Transported": transported})
    table.to_csv(path, index=False)
    return transported


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation_passengers.csv")
    truth = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")

    model = fit(train)
    guessed = write_predictions("validation.csv", validation, model)
    write_predictions("submission.csv", test, model)
    print(f"validation accuracy={accuracy(guessed, truth['Transported']):.4f}")


if __name__ == "__main__":
    main()
