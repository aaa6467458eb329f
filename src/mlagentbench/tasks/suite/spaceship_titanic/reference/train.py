"""Predict who was transported with engineered features and many boosted trees.

Cabins are taken apart, damaged cells are mended from what fellow travellers and the
rules of the ship say (who sleeps spends nothing), bills become logarithms, and groups
and families are described by their size and habits. Several boosted models, which draw
different columns and rows, are averaged.
"""

import os

import numpy as np
import pandas as pd
from evaluate import accuracy
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

HISTOGRAM_MODELS = 12
EXACT_MODELS = 3
AMENITIES = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
COMMON_TO_A_GROUP = ["HomePlanet", "Deck", "Side", "CabinNumber", "Surname"]
CATEGORIES = ["HomePlanet", "Destination", "Deck", "Side"]


def taken_apart(passengers):
    table = passengers.copy()
    cabin = table["Cabin"].str.split("/", expand=True)
    table["Deck"], table["Side"] = cabin[0], cabin[2]
    table["CabinNumber"] = cabin[1].astype(float)
    table["Surname"] = table["Name"].str.split(" ").str[-1]
    table["Group"] = table["PassengerId"].str[:4]
    for column in ("CryoSleep", "VIP"):
        table[column] = table[column].map({True: 1.0, False: 0.0})
    return table


def mended(table):
    table = table.copy()
    for column in COMMON_TO_A_GROUP:
        of_group = table.groupby("Group")[column].transform("first")
        table[column] = table[column].fillna(of_group)
    of_family = table.groupby("Surname")["HomePlanet"].transform("first")
    table["HomePlanet"] = table["HomePlanet"].fillna(of_family)
    of_deck = {**dict.fromkeys("ABCT", "Europa"), "G": "Earth"}
    table["HomePlanet"] = table["HomePlanet"].fillna(table["Deck"].map(of_deck))
    billed = table[AMENITIES].sum(axis=1)
    table["CryoSleep"] = table["CryoSleep"].fillna((billed == 0).astype(float))
    idle = (table["CryoSleep"] == 1) | (table["Age"] < 13)
    for column in AMENITIES:
        of_planet = table[~idle].groupby("HomePlanet")[column].median()
        guess = table["HomePlanet"].map(of_planet).where(~idle, 0.0)
        table[column] = table[column].fillna(guess).fillna(0.0)
    table["Age"] = table["Age"].fillna(table["Age"].median())
    table["VIP"] = table["VIP"].fillna(0.0)
    table["Surname"] = table["Surname"].fillna(table["Group"])
    return table


def described(table):
    facts = pd.get_dummies(table[CATEGORIES], dtype=float)
    facts[["CryoSleep", "VIP", "Age"]] = table[["CryoSleep", "VIP", "Age"]]
    facts["Child"] = (table["Age"] < 13).astype(float)
    for column in AMENITIES:
        facts[column] = np.log1p(table[column])
    luxury = table[["RoomService", "Spa", "VRDeck"]].sum(axis=1)
    basics = table[["FoodCourt", "ShoppingMall"]].sum(axis=1)
    facts["Luxury"], facts["Basics"] = np.log1p(luxury), np.log1p(basics)
    facts["Billed"] = np.log1p(luxury + basics)
    facts["LuxuryOverBasics"] = facts["Luxury"] - facts["Basics"]
    facts["Spends"] = (luxury + basics > 0).astype(float)
    facts["Amenities"] = (table[AMENITIES] > 0).sum(axis=1)
    facts["CabinNumber"] = table["CabinNumber"].fillna(-100)
    groups = facts.groupby(table["Group"])
    facts["GroupSize"] = groups["Age"].transform("size")
    facts["GroupSleeps"] = groups["CryoSleep"].transform("mean")
    facts["GroupBilled"] = groups["Billed"].transform("mean")
    facts["GroupAge"] = groups["Age"].transform("mean")
    families = table.groupby("Surname")["Group"]
    facts["FamilySize"] = families.transform("size").clip(upper=20)
    return facts


def models(seed):
    for turn in range(HISTOGRAM_MODELS):
        yield HistGradientBoostingClassifier(
            max_iter=200,
            learning_rate=0.035,
            max_leaf_nodes=20,
            min_samples_leaf=15,
            l2_regularization=5.0,
            max_features=0.3,
            random_state=1000 * seed + turn,
        )
    for turn in range(EXACT_MODELS):
        yield GradientBoostingClassifier(
            n_estimators=500,
            learning_rate=0.03,
            max_depth=6,
            subsample=0.5,
            max_features=0.15,
            min_samples_leaf=15,
            random_state=1000 * seed + turn,
        )


def mean_chance(train, labels, asked, seed):
    chances = [
        model.fit(train, labels).predict_proba(asked)[:, 1] for model in models(seed)
    ]
    return np.mean(chances, axis=0)


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation_passengers.csv")
    test = pd.read_csv("data/test.csv")
    everyone = pd.concat([train, validation, test], ignore_index=True)
    table = described(mended(taken_apart(everyone)))
    first, second = len(train), len(train) + len(validation)

    seed = int(os.environ["MLAB_SEED"])
    chances = mean_chance(table[:first], train["Transported"], table[first:], seed)
    everyone["Transported"] = np.r_[train["Transported"], chances > 0.5].astype(bool)
    answers = everyone[["PassengerId", "Transported"]]
    answers[first:second].to_csv("validation.csv", index=False)
    answers[second:].to_csv("submission.csv", index=False)
    guessed = answers["Transported"][first:second]
    truth = pd.read_csv("data/validation.csv")["Transported"]
    print(f"validation accuracy={accuracy(guessed, truth):.4f}")


if __name__ == "__main__":
    main()
