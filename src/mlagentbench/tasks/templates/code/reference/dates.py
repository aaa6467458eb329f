"""Read dates."""

from datetime import datetime

NOTATIONS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%d-%b-%y",
    "%d-%b-%Y",
    "%Y%m%d",
)


def read_date(text):
    for notation in NOTATIONS:
        try:
            return datetime.strptime(text.strip(), notation).date().isoformat()
        except ValueError:
            continue
    return ""
