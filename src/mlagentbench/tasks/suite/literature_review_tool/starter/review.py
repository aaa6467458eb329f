"""Review the literature on a question: search once, report what comes first.

Run as a script it prints its score on the visible questions.
"""

import scholar

RESULTS = 10
SHORTEST_WORD = 1
QUOTED_WORDS = 40


def find(question):
    words = [word for word in scholar.words(question) if len(word) >= SHORTEST_WORD]
    return scholar.search(" ".join(words), limit=RESULTS)


def review(question):
    papers = find(question)
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
        "the index whose titles are closest to the question. No work outside of the "
        f"index was considered, and none was read in full. The closest are: {titles}."
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
