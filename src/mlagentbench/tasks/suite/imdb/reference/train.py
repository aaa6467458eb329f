"""Tell positive from negative reviews with two linear models over whole texts.

One sees words, pairs and triples of words; the other sees pieces of words, which also
catch endings, misspellings and compounds. Each feature is weighted by how one-sidedly
it occurs in positive or negative reviews (after NB-SVM). Their log-odds are averaged.
"""

import os

import numpy as np
import pandas as pd
from evaluate import accuracy
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

STRENGTH = 30.0
BLEND_OF_WORDS = 0.5
WORDS = {"ngram_range": (1, 3), "min_df": 2, "token_pattern": r"[a-z0-9']+|[!?/]"}
PIECES = {"analyzer": "char_wb", "ngram_range": (3, 5), "min_df": 5}


def one_sidedness(features, positive):
    present = features > 0
    liked = 1 + present[positive == 1].sum(axis=0)
    disliked = 1 + present[positive == 0].sum(axis=0)
    ratio = np.log((liked / liked.sum()) / (disliked / disliked.sum()))
    return np.sqrt(np.abs(np.asarray(ratio, dtype=np.float32))).ravel()


def log_odds(view, train, asked, seed):
    count = TfidfVectorizer(**view, sublinear_tf=True, dtype=np.float32)
    features = count.fit_transform(train["review"])
    weights = one_sidedness(features, train["positive"].to_numpy())
    model = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=seed)
    model.fit(features.multiply(weights).tocsr(), train["positive"])
    return [
        model.decision_function(count.transform(reviews).multiply(weights).tocsr())
        for reviews in asked
    ]


def main():
    seed = int(os.environ["MLAB_SEED"])
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation_reviews.csv")
    test = pd.read_csv("data/test_reviews.csv")
    asked = [validation["review"], test["review"]]

    of_words = log_odds(WORDS, train, asked, seed)
    of_pieces = log_odds(PIECES, train, asked, seed)
    for path, reviews, words, pieces in zip(
        ["validation.csv", "submission.csv"],
        [validation, test],
        of_words,
        of_pieces,
        strict=True,
    ):
        odds = BLEND_OF_WORDS * words + (1 - BLEND_OF_WORDS) * pieces
        table = pd.DataFrame({"Id": reviews["Id"], "positive": expit(odds)})
        table.to_csv(path, index=False)
    guessed = pd.read_csv("validation.csv")["positive"]
    score = accuracy(guessed, pd.read_csv("data/validation.csv")["positive"])
    print(f"validation accuracy={score:.4f}")


if __name__ == "__main__":
    main()
