import numpy as np
import pytest

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite.vectorization.metric import is_right, pack, unpack_cases
from mlagentbench.tasks.suite_arrays import read_arrays

EXPECTED = [np.arange(6.0).reshape(2, 3), np.ones((1, 2, 2))]


@pytest.fixture
def read(tmp_path):
    def go(contents):
        path = tmp_path / "output"
        path.write_bytes(contents)
        return read_arrays(path, EXPECTED)

    return go


def test_what_was_packed_is_read_back(read):
    for found, wanted in zip(read(pack(EXPECTED)), EXPECTED, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_arrays_in_another_order_of_memory_are_read_back(read):
    found = read(pack([np.asfortranarray(EXPECTED[0]), EXPECTED[1]]))
    np.testing.assert_array_equal(found[0], EXPECTED[0])


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "instead of '<f8 2,3'"),
        (b"\n" * 100, "instead of"),
        (pack(EXPECTED)[:-1], "cut short"),
        (pack(EXPECTED) + b"x", "more output than was asked for"),
        (pack(EXPECTED[:1]), "instead of '<f8 1,2,2'"),
        (pack(reversed(EXPECTED)), "'<f8 1,2,2' instead of '<f8 2,3'"),
        (pack([EXPECTED[0].astype("f4"), EXPECTED[1]]), "'<f4 2,3' instead of"),
        (b"|O 2,3\n\x80\x04cos\nsystem\n", "'|O 2,3' instead of"),
        (b"<f8 2,3,\xff\x1b[31m", "instead of"),
        (b"<f8 " + b"9" * 10_000 + b"\n", "instead of"),
        (bytes(2**20 + 1), "larger than"),
    ],
)
def test_hostile_bytes_are_refused_in_printable_words(read, contents, reason):
    with pytest.raises(SubmissionError) as refused:
        read(contents)
    assert reason in str(refused.value)
    assert str(refused.value).isprintable()


def test_cases_come_back_as_they_were_packed():
    images, kernels = np.random.default_rng(0).random((2, 1, 3, 3, 2))
    bias, steps = np.zeros(1), np.array([2, 1])
    (case,) = unpack_cases(pack([images, kernels, bias, steps]))
    np.testing.assert_array_equal(case.kernels, kernels)
    assert (case.stride, case.pad) == (2, 1)
    assert case.images.flags.writeable


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e-8])
def test_one_number_that_is_off_makes_an_output_wrong(wrong):
    output = EXPECTED[0].copy()
    assert is_right(output, EXPECTED[0])
    output[0, 0] += wrong
    assert not is_right(output, EXPECTED[0])
