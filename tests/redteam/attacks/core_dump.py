"""Crash, so that the host starts its own program with our memory as input."""

import resource

from evidence import failed, succeeded

# A core that is piped to a program ignores a limit of 0; only 1 prevents it.
limits = resource.getrlimit(resource.RLIMIT_CORE)
if limits == (1, 1):
    failed("the limit of core files is 1, which starts no program")
else:
    succeeded(f"a program for core files would be started with limits {limits}")
