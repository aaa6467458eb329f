"""Predict six scores of a text with ridge regression and boosted trees.

The ridge sees n-grams of words and letters and what `measure.py` measures; the trees
see the measures and what the ridge says of all six traits, which go together.
"""

import os

import numpy as np
import pandas as pd
from evaluate import TRAITS, mcrmse
from measure import Measures
from scipy.sparse import hstack
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

ALPHA = 1.0
WEIGHT_OF_MEASURES = 0.08
FOLDS = 5
TREES = 350
LEARNING_RATE = 0.03
MAX_DEPTH = 4
BLEND_OF_TREES = 0.4


def vectorizers():
    words = TfidfVectorizer(
        token_pattern=r"[A-Za-z']+|[^\w\s]",
        ngram_range=(1, 2),
        lowercase=False,
        min_df=3,
        sublinear_tf=True,
    )
    letters = TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=(2, 4),
        lowercase=False,
        min_df=4,
        sublinear_tf=True,
    )
    return words, letters


class Ridges:
    """Linear models of n-grams and measures, one for each trait."""

    def __init__(self, texts, measures, scores):
        self.grams = [grams.fit(texts) for grams in vectorizers()]
        self.scaler = StandardScaler().fit(measures)
        self.known = self._table(texts, measures)
        self.products = (self.known @ self.known.T).toarray()
        self.typical = scores.mean(axis=0)
        self.centred = scores - self.typical
        self.model = KernelRidge(alpha=ALPHA, kernel="precomputed")
        self.model.fit(self.products, self.centred)

    def predict(self, texts, measures):
        products = (self._table(texts, measures) @ self.known.T).toarray()
        return self.model.predict(products) + self.typical

    def out_of_fold(self, seed):
        folds = KFold(FOLDS, shuffle=True, random_state=seed)
        guessed = cross_val_predict(self.model, self.products, self.centred, cv=folds)
        return guessed + self.typical

    def _table(self, texts, measures):
        scaled = WEIGHT_OF_MEASURES * self.scaler.transform(measures)
        return hstack(
            [*(grams.transform(texts) for grams in self.grams), scaled]
        ).tocsr()


def fit_trees(table, scores, seed):
    model = GradientBoostingRegressor(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        min_samples_leaf=10,
        max_features=0.2,
        subsample=0.6,
        random_state=seed,
    )
    return model.fit(table, scores)


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation_texts.csv")
    test = pd.read_csv("data/test.csv")
    truth = pd.read_csv("data/validation.csv")
    seed = int(os.environ["MLAB_SEED"])

    texts, scores = train["full_text"].to_numpy(), train[TRAITS].to_numpy()
    measures = Measures(texts)
    known = measures.of(texts, counted=True)
    ridges = Ridges(texts, known, scores)
    guesses = ridges.out_of_fold(seed)
    trees = [
        fit_trees(np.hstack([known, guesses]), scores[:, column], seed)
        for column in range(len(TRAITS))
    ]

    for path, table in (("submission.csv", test), ("validation.csv", validation)):
        seen = measures.of(table["full_text"].to_numpy())
        linear = ridges.predict(table["full_text"].to_numpy(), seen)
        both = np.hstack([seen, linear])
        branched = np.column_stack([model.predict(both) for model in trees])
        blend = BLEND_OF_TREES * branched + (1 - BLEND_OF_TREES) * linear
        predicted = pd.DataFrame(np.clip(blend, 1, 5), columns=TRAITS)
        predicted.insert(0, "text_id", table["text_id"])
        predicted.to_csv(path, index=False)
    print(f"validation mcrmse={mcrmse(predicted[TRAITS], truth[TRAITS]):.4f}")


if __name__ == "__main__":
    main()
