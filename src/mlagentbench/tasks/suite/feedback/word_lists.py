"""The words that weak writers of this task reach for, or leave out."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONNECTIVES = _words(
    """accordingly again also although because besides but consequently finally
    further furthermore hence however indeed instead likewise meanwhile moreover
    nevertheless otherwise since so still then therefore though thus unless until
    whereas whether while yet"""
)
POINTERS = _words("this these those such its their his same both")
"""They refer back to something that was said."""
SKELETON = _words(
    """we i it they he you is are was were be been being has have had will would can
    may must should that which who there to"""
)
"""Subjects, auxiliaries and the like: without them a clause falls apart."""

PLAINEST = ("thing", "good", "way", "stuff", "make", "get", "big", "part", "place")
PLAIN_WORDS = {
    "ly": ("well", "much", "really", "very"),
    "ing": ("doing", "making", "getting", "going", "having"),
    "ed": ("made", "done", "got", "had", "put", "given"),
    "ions": ("things", "ways", "parts"),
    "ments": ("things", "ways", "parts"),
    "ies": ("things", "people", "places"),
    "ion": ("thing", "way", "work", "part"),
    "ment": ("thing", "way", "work", "part"),
    "ness": ("thing", "way", "good"),
    "ity": ("thing", "way", "good"),
    "ance": ("thing", "way", "help"),
    "ence": ("thing", "way", "help"),
    "ous": ("good", "bad", "big", "great"),
    "ive": ("good", "big", "new"),
    "ble": ("good", "nice", "great"),
    "al": ("good", "big", "great", "new"),
    "ic": ("good", "big", "new"),
    "s": ("things", "people", "times", "ways"),
}
"""By the ending of the word they replace; the first that fits counts."""

FILLERS = (
    "you know",
    "kind of",
    "sort of",
    "in a way",
    "I mean",
    "as it is",
    "and all",
    "or something",
    "like that",
    "at this time",
    "the fact that",
    "in order of",
    "very",
    "just",
)
_SWAPPED = (
    "make do take give",
    "made did took gave",
    "great high strong heavy",
    "large long wide big",
    "important heavy high strong",
    "many much several lots",
    "shall going will",
    "between among inside",
    "every all each any",
    "present actual current",
    "year time season",
    "power force strength might",
    "public common general open",
    "duty work job must",
    "peace quiet rest calm",
    "law rule order",
    "war fight battle",
    "country land ground place",
    "say tell speak talk",
    "see look watch",
    "increase grow rise",
    "provide give bring",
    "continue keep go",
    "necessary needful needed",
)
COLLOCATIONS = {
    own: tuple(other for other in group.split() if other != own)
    for group in _SWAPPED
    for own in group.split()
}
"""Words that mean much the same and yet do not fit where the other does."""

CONFUSED = {
    "a": ("an", "the"),
    "an": ("a", "the"),
    "the": ("a", "an"),
    "is": ("are", "be", "were"),
    "are": ("is", "be", "was"),
    "was": ("were", "is", "been"),
    "were": ("was", "are"),
    "has": ("have", "having"),
    "have": ("has", "having"),
    "had": ("have", "has"),
    "been": ("be", "being"),
    "be": ("been", "being", "is"),
    "in": ("on", "at"),
    "on": ("in", "at"),
    "at": ("in", "to"),
    "of": ("for", "from", "to"),
    "to": ("for", "at", "of"),
    "for": ("to", "of"),
    "from": ("of", "by"),
    "by": ("with", "from"),
    "with": ("by", "of"),
    "we": ("us",),
    "us": ("we",),
    "they": ("them",),
    "them": ("they",),
    "this": ("these",),
    "these": ("this",),
    "that": ("what",),
    "which": ("what", "who"),
    "who": ("which",),
}
DROPPABLE = _words("some any each upon into under our not")
WRONG_ENDINGS = {
    "ing": ("", "ed", "s"),
    "ed": ("", "ing", "s"),
    "ss": ("sses", "ssed"),
    "s": ("",),
    "ly": ("",),
    "": ("s", "s", "ed", "ing"),
}
"""By the right one; the first that fits counts."""
