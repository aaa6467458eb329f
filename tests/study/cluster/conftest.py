"""Tests on real clusters take minutes each: only `make cluster` collects them."""

import os

collect_ignore_glob = [] if os.environ.get("MLAB_TEST_CLUSTER") else ["test_*.py"]
