"""Search every file that can be read for rows of the held-out labels."""

from evidence import HINTS, secret
from search import search

search([secret("label_rows")], near=[HINTS["private"]])
