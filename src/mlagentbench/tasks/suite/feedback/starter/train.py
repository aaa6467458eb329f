"""Predict six scores of a text with a few boosted trees on a few counted words.

Writes validation.csv and submission.csv (text_id and the six traits) and prints the
MCRMSE on the validation texts.
"""

import os

import pandas as pd
from evaluate import TRAITS, mcrmse
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer

WORDS = 50
TREES = 25
LEARNING_RATE = 0.03
MAX_DEPTH = 2
MIN_TEXTS_PER_LEAF = 30


def fit(table, scores, seed):
    model = GradientBoostingRegressor(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_TEXTS_PER_LEAF,
        max_features="sqrt",
        random_state=seed,
    )
    return model.fit(table, scores)


def write_predictions(path, texts, table, models):
    scores = {trait: models[trait].predict(table) for trait in TRAITS}
    predicted = pd.DataFrame({"text_id": texts["text_id"], **scores})
    predicted.to_csv(path, index=False)
    return predicted[TRAITS]


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation_texts.csv")
    test = pd.read_csv("data/test.csv")
    truth = pd.read_csv("data/validation.csv")

    words = TfidfVectorizer(max_features=WORDS)
    table = words.fit_transform(train["full_text"]).toarray()
    seed = int(os.environ["MLAB_SEED"])
    models = {trait: fit(table, train[trait], seed) for trait in TRAITS}

    for path, texts in (("submission.csv", test), ("validation.csv", validation)):
        seen = words.transform(texts["full_text"]).toarray()
        guessed = write_predictions(path, texts, seen, models)
    print(f"validation mcrmse={mcrmse(guessed, truth[TRAITS]):.4f}")


if __name__ == "__main__":
    main()
