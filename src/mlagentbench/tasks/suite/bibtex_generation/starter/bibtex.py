"""Write the BibTeX entries of a paragraph: one search for each masked citation.

Run as a script it prints its score on the visible paragraphs.
"""

import scholar

MARKER = "[CITATION]"
WORDS_READ = 60
LONGEST_WORDS = 6
RECORDS_PER_MARKER = 1


def claims(paragraph):
    """Return the last words before each marker, back to the one before at most."""
    for chunk in paragraph.split(MARKER)[:-1]:
        yield " ".join(chunk.split()[-WORDS_READ:])


def find(claim):
    words = sorted(scholar.words(claim), key=len, reverse=True)
    query = " ".join(words[:LONGEST_WORDS])
    return scholar.search(query, limit=RECORDS_PER_MARKER)


def cite(paragraph):
    found = {}
    for claim in claims(paragraph):
        found |= {record["id"]: record for record in find(claim)}
    return "\n\n".join(map(entry, found.values()))


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
