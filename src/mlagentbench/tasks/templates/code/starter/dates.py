"""Read dates."""

from datetime import datetime

NOTATIONS = ("%Y-%m-%d", "%d %B %Y")


def read_date(text):
    for notation in NOTATIONS:
        try:
            return datetime.strptime(text.strip(), notation).date().isoformat()
        except ValueError:
            continue
    return ""
