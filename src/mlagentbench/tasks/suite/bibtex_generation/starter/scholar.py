"""A local search service over bibliographic records, in place of a web service.

    import scholar

    scholar.search("cerebral blood flow", limit=10)   # records, best first
    scholar.get("P00042")                             # one record, or None

A record is a dictionary with the texts id, title, year, journal, volume, pages and
abstract, and the list authors, each as "Family, Given".

search() looks into titles only. A record's rank is the sum over the words that it
shares with the query, rare words counting more; words are compared as they are
written, but for capitals. It returns at most 20 records for one query.
"""

import json
import math
import re
from functools import cache
from pathlib import Path

PAPERS = Path("data/papers.jsonl")
MOST_RESULTS = 20
COMMON = (
    "a about an and are as at be been by did do does for from had has have how in is "
    "it its of on or that the their there these they this to was were what when where "
    "which who why will with"
)
IGNORED = frozenset(COMMON.split())


@cache
def records():
    """Return every record by its id."""
    with PAPERS.open(encoding="utf-8") as file:
        return {record["id"]: record for record in map(json.loads, file)}


def get(record_id):
    return records().get(record_id)


def search(query, limit=10):
    found = {}
    for word in words(query):
        holders = _titles_by_word().get(word, ())
        for record_id in holders:
            weight = math.log(1 + len(records()) / len(holders))
            found[record_id] = found.get(record_id, 0.0) + weight
    ranked = sorted(found, key=lambda record_id: (-found[record_id], record_id))
    return [records()[record_id] for record_id in ranked[: min(limit, MOST_RESULTS)]]


def words(text):
    """Return the different words of a text, in order, without the commonest."""
    said = re.findall(r"[^\W_]+", text.casefold())
    return [word for word in dict.fromkeys(said) if word not in IGNORED]


@cache
def _titles_by_word():
    holders = {}
    for record in records().values():
        for word in words(record["title"]):
            holders.setdefault(word, []).append(record["id"])
    return holders
