"""Guess from its first words whether a film review is positive.

A small network averages one learnt vector per common word and weighs the average.
Writes validation.csv and submission.csv (Id,positive) and prints the accuracy on the
validation reviews.
"""

import os
from collections import Counter

import pandas as pd
import torch
from evaluate import accuracy
from torch import nn

VOCABULARY = 1000
WORDS = 50
WIDTH = 8
LEARNING_RATE = 0.005
EPOCHS = 4
BATCH = 64


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.average = nn.EmbeddingBag(
            VOCABULARY + 1, WIDTH, mode="mean", padding_idx=0
        )
        self.weigh = nn.Linear(WIDTH, 1)

    def forward(self, words):
        return self.weigh(self.average(words)).squeeze(1)


def first_words(review):
    return review.lower().split()[:WORDS]


def number_words(reviews):
    counts = Counter(word for review in reviews for word in first_words(review))
    common = counts.most_common(VOCABULARY)
    return {word: number for number, (word, _) in enumerate(common, start=1)}


def encode(reviews, numbers):
    table = torch.zeros(len(reviews), WORDS, dtype=torch.long)
    for row, review in enumerate(reviews):
        known = [numbers[word] for word in first_words(review) if word in numbers]
        table[row, : len(known)] = torch.tensor(known, dtype=torch.long)
    return table


def fit(words, positive):
    model = Classifier()
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    measure = nn.BCEWithLogitsLoss()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(words)).split(BATCH):
            optimiser.zero_grad()
            measure(model(words[rows]), positive[rows]).backward()
            optimiser.step()
    return model


def write_predictions(path, reviews, model, numbers):
    with torch.no_grad():
        logits = model(encode(reviews["review"], numbers))
    probabilities = torch.sigmoid(logits).numpy()
    table = pd.DataFrame({"Id": reviews["Id"], "positive": probabilities})
    table.to_csv(path, index=False)
    return probabilities


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    train = pd.read_csv("data/train.csv")
    numbers = number_words(train["review"])
    positive = torch.tensor(train["positive"], dtype=torch.float32)
    model = fit(encode(train["review"], numbers), positive)

    validation = pd.read_csv("data/validation_reviews.csv")
    guessed = write_predictions("validation.csv", validation, model, numbers)
    test = pd.read_csv("data/test_reviews.csv")
    write_predictions("submission.csv", test, model, numbers)
    score = accuracy(guessed, pd.read_csv("data/validation.csv")["positive"])
    print(f"validation accuracy={score:.4f}")


if __name__ == "__main__":
    main()
