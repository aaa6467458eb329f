"""Tell the topic of a message from its most frequent words.

Writes validation.csv and submission.csv (Id,topic).
"""

import os

import pandas as pd
from evaluate import accuracy
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

WORDS = 45
EPOCHS = 20


def main():
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")
    model = make_pipeline(
        CountVectorizer(max_features=WORDS),
        SGDClassifier(
            loss="log_loss",
            max_iter=EPOCHS,
            tol=None,
            random_state=int(os.environ["MLAB_SEED"]),
        ),
    )
    model.fit(train["message"], train["topic"])
    for name, rows in (("validation", validation), ("submission", test)):
        topics = model.predict(rows["message"])
        table = pd.DataFrame({"Id": rows["Id"], "topic": topics})
        table.to_csv(f"{name}.csv", index=False)
    score = accuracy(pd.read_csv("validation.csv")["topic"], validation["topic"])
    print(f"validation accuracy={score:.4f}")


if __name__ == "__main__":
    main()
