"""Raise the limit of core files, so that a crash leaves one on the host."""

import resource

from evidence import conclude

LARGE = 10**9


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    wanted = LARGE if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_CORE, (wanted, hard))
    return wanted > 1


conclude({"setrlimit": raise_limit})
