"""Write the BibTeX entries of a paragraph, found by all that is known of a record.

A claim is the sentence with the marker. Records are ranked by BM25 of its words in
titles and abstracts, a little of it by the words of the whole paragraph; where the
sentence names an author and a year, records of that author come first.

Run as a script it prints its score on the visible paragraphs.
"""

import re
from collections import Counter
from functools import cache

import numpy as np
import scholar
from scipy.sparse import csr_array

MARKER = "[CITATION]"
TITLE_COPIES = 2
SATURATION = 1.5
LENGTH_WEIGHT = 0.6
PARAGRAPH_WEIGHT = 0.15
AUTHOR_BONUS = 1.0
SENTENCE_END = re.compile(r"(?<=[.?!])(?<!al\.)\s+(?=\S)")
NAMED = re.compile(r"(.*?) (?:et al\.|and colleagues|and others) \((\d{4})\)")
ENDINGS = re.compile(r"(?<=\w{4})(ies|ation|ing|al|ic|ed|es|e|s|y)$")


@cache
def stem(word):
    return ENDINGS.sub("", word)


def stems(text):
    said = re.findall(r"[^\W_]+", text.casefold())
    return [stem(word) for word in said if word not in scholar.IGNORED]


class Index:
    """BM25 weights of every stem in every record, and who wrote what when."""

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
        self.written = {}
        for place, record in enumerate(records.values()):
            family = record["authors"][0].partition(",")[0]
            self.written.setdefault((family, record["year"]), []).append(place)

    def counted(self, text):
        query = np.zeros(len(self.columns))
        for word in stems(text):
            if word in self.columns:
                query[self.columns[word]] += 1
        return query

    def match(self, text):
        scores = self.weights @ self.counted(text)
        return scores / max(scores.max(), 1e-9)

    def by_author(self, claim):
        """Return where the works lie whose author and year the claim names."""
        named = NAMED.match(claim)
        before = named[1].split() if named else []
        for start in range(len(before)):
            key = (" ".join(before[start:]), named[2])
            if key in self.written:
                return self.written[key]
        return []


@cache
def index():
    return Index(scholar.records())


def claims(paragraph):
    for chunk in paragraph.split(MARKER)[:-1]:
        yield SENTENCE_END.split(chunk.strip(" ."))[-1]


def cite(paragraph):
    known = index()
    context = PARAGRAPH_WEIGHT * known.match(paragraph)
    found = []
    for claim in claims(paragraph):
        scores = known.match(claim) + context
        scores[known.by_author(claim)] += AUTHOR_BONUS
        scores[found] = -1
        found.append(int(np.argmax(scores)))
    return "\n\n".join(entry(scholar.get(known.ids[place])) for place in found)


def entry(record):
    fields = {
        "author": " and ".join(record["authors"]),
        "title": record["title"],
        "journal": record["journal"],
        "year": record["year"],
        "volume": record["volume"],
        "pages": record["pages"],
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@article{{{record['id']},\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    from evaluate import main

    main()
