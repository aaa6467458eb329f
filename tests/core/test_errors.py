"""Whose fault a failure is."""

import pytest

from mlagentbench.core.errors import GraderError, SubmissionError, blame


def test_an_ordinary_error_is_given_the_label():
    with (
        pytest.raises(GraderError, match="house-price: ValueError: no"),
        blame(GraderError, "house-price"),
    ):
        raise ValueError("no")


def test_an_error_that_has_a_label_keeps_it():
    with pytest.raises(SubmissionError), blame(GraderError, "house-price"):
        raise SubmissionError("ids are missing")
