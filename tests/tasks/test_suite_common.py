import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.suite_common import read_numbers, read_regular_file
from mlagentbench.tasks.task_code import load_grade

HEADER = "Id,SalePrice\n"
CELLS = st.one_of(
    st.sampled_from(["1", "2", "3", "nan", "-inf", "1e400", "1e99", "", '"', "1_0"]),
    st.text(max_size=8),
    st.floats().map(repr),
)
TABLES = st.lists(st.lists(CELLS, max_size=3), max_size=4).map(
    lambda rows: (HEADER + "\n".join(",".join(row) for row in rows)).encode(
        "utf-8", "surrogatepass"
    )
)


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submission")
    (folder / "truth.csv").write_text(f"{HEADER}1,100\n2,300\n")
    return folder


@pytest.fixture(scope="session")
def grade():
    return load_grade(load_task("house-price"))


@given(content=st.one_of(st.binary(max_size=300), TABLES))
@example(content=b"Id,SalePrice\n1,1e100\n2,-1e100\n")
@example(content=b'Id,SalePrice\n1,"5\n2,6\n')
@example(content=b"Id,SalePrice\n1,\x00\n")
@example(content=b"Id,SalePrice\r1,5\r2,6\r")
@example(content=b"Id,SalePrice\n1,1" + b"0" * 5000 + b"\n2,6\n")
@example(content=b"Id,SalePrice\n1," + b"x" * 200_000)
def test_any_bytes_are_a_number_or_refused(place, grade, content):
    (place / "submission.csv").write_bytes(content)
    try:
        score = grade(place / "submission.csv", place / "truth.csv").score
        refusal = "submission.csv"
    except SubmissionError as error:
        score, refusal = 0.0, str(error)
    assert 0 <= score <= 2e100
    assert refusal.startswith("submission.csv")
    assert len(refusal) < 300


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must begin with the line Id,SalePrice, not ''"),
        ("SalePrice,Id\n5,1\n6,2\n", "must begin with the line"),
        (HEADER + "1,5\n", "1 of 2 rows are missing, for example Id 2"),
        (HEADER + "1,5\n2,6\n1,5\n", "Id 1 appears twice"),
        (HEADER + "1,5\n2,6\n3,7\n", "no Id '3' was asked for"),
        (HEADER + "1,nan\n2,6\n", "Id 1: 'nan' is not a number"),
        (HEADER + "1,5\n2,inf\n", "Id 2: 'inf' is not a number"),
        (HEADER + "1,5\n2,1e101\n", "Id 2: '1e101' is not a number"),
        (HEADER + "1,5\n2,1_000\n", "'1_000' is not a number"),
        (HEADER + "1,5\n2,٣\n", "is not a number"),
        (HEADER + "1,5,9\n2,6\n", "row 1: 2 cells were asked for, 3 are there"),
        (HEADER + '1,"5\n2,6\n', "unexpected end of data"),
    ],
)
def test_a_refusal_tells_the_agent_what_to_change(tmp_path, text, reason):
    path = tmp_path / "submission.csv"
    path.write_text(text)
    with pytest.raises(SubmissionError) as raised:
        read_numbers(path, ["1", "2"], ["SalePrice"])
    assert reason in str(raised.value)


def test_order_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path):
    path = tmp_path / "submission.csv"
    path.write_text("\ufeffId,SalePrice\r\n2,6\r\n\r\n1,5e0\r\n")
    assert read_numbers(path, ["1", "2"], ["SalePrice"]) == {"2": (6,), "1": (5,)}


def test_links_pipes_folders_and_absent_files_are_refused(tmp_path):
    (tmp_path / "real").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder", "absent"):
        with pytest.raises(SubmissionError, match=name):
            read_regular_file(tmp_path / name)


def test_a_file_that_is_too_large_is_refused_without_reading_it_all(tmp_path):
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(SubmissionError, match="larger than 64 MB"):
        read_regular_file(path)
