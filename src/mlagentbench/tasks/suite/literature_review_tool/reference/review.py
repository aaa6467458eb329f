"""Review the literature on a question, found by all words of all records.

Records are ranked by BM25 over the stems of titles and abstracts; then the query is
widened by the words that the best of them have in common, and all are ranked again.

Run as a script it prints its score on the visible questions.
"""

import re
from collections import Counter
from functools import cache

import numpy as np
import scholar
from scipy.sparse import csr_array

RESULTS = 20
TITLE_COPIES = 3
SATURATION = 1.2
LENGTH_WEIGHT = 0.6
FEEDBACK_RECORDS = 10
FEEDBACK_WORDS = 30
FEEDBACK_WEIGHT = 0.6
QUOTED_WORDS = 40
QUESTION_WORDS = (
    "known which studies deal what find give overview research has been reported so "
    "far review literature published papers say"
)
ASKING = frozenset(QUESTION_WORDS.split())
ENDINGS = re.compile(r"(?<=\w{4})(ies|ation|ical|ing|ous|al|ic|ed|es|e|s|y|a|um|us)$")


@cache
def stem(word):
    return ENDINGS.sub("", ENDINGS.sub("", word))


def stems(text):
    said = re.findall(r"[^\W_]+", text.casefold())
    return [stem(word) for word in said if word not in scholar.IGNORED]


class Index:
    """BM25 weights of every stem in every record."""

    def __init__(self, records):
        self.ids = list(records)
        texts = [
            f"{r['title']} " * TITLE_COPIES + r["abstract"] for r in records.values()
        ]
        rows, columns, times = [], [], []
        self.columns = {}
        for row, text in enumerate(texts):
            for word, count in Counter(stems(text)).items():
                rows.append(row)
                columns.append(self.columns.setdefault(word, len(self.columns)))
                times.append(count)
        lengths = np.bincount(rows, times)
        holders = np.bincount(columns)
        rarity = np.log1p((len(texts) - holders + 0.5) / (holders + 0.5))
        spread = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / lengths.mean()
        saturated = times / (np.array(times) + SATURATION * spread[rows])
        self.weights = csr_array((rarity[columns] * saturated, (rows, columns)))

    def counted(self, text):
        query = np.zeros(len(self.columns))
        for word in stems(text):
            if word in self.columns:
                query[self.columns[word]] += 1
        return query

    def rank(self, question):
        asked = [word for word in scholar.words(question) if word not in ASKING]
        scores = scaled(self.weights @ self.counted(" ".join(asked)))
        best = np.argsort(-scores, kind="stable")[:FEEDBACK_RECORDS]
        scores = scores + FEEDBACK_WEIGHT * scaled(self.weights @ self.common(best))
        return [self.ids[place] for place in np.argsort(-scores, kind="stable")]

    def common(self, best):
        shared = np.asarray(self.weights[best].mean(axis=0)).ravel()
        least = np.sort(shared)[-FEEDBACK_WORDS]
        return np.where(shared >= least, shared, 0.0)


def scaled(scores):
    return scores / max(scores.max(), 1e-9)


@cache
def index():
    return Index(scholar.records())


def review(question):
    papers = [scholar.get(record) for record in index().rank(question)[:RESULTS]]
    sections = {
        "Summary": summary(question, papers),
        "Related work": "\n".join(map(related_work, papers)),
        "Open questions": f"- What remains open after these works? {question}",
        "References": "\n".join(map(reference, papers)),
    }
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items())


def summary(question, papers):
    titles = "; ".join(paper["title"] for paper in papers[:3])
    return (
        f"This report was asked: {question} It is based on the {len(papers)} works of "
        "the index that are closest to the question by what they are titled and say. "
        f"None was read in full. The closest are: {titles}."
    )


def related_work(paper):
    said = " ".join(paper["abstract"].split()[:QUOTED_WORDS])
    return f"- {paper['authors'][0]} ({paper['year']}) [{paper['id']}]: {said} ..."


def reference(paper):
    authors = "; ".join(paper["authors"])
    where = f"{paper['journal']} {paper['volume']}"
    return f"- [{paper['id']}] {authors} ({paper['year']}). {paper['title']}. {where}"


if __name__ == "__main__":
    from evaluate import main

    main()
