import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.suite.identify_contrails import generator, metric
from mlagentbench.tasks.suite_data import generator as chance
from mlagentbench.tasks.task_code import load_grade

SHAPE = (metric.SIZE, metric.SIZE)
PIXELS = metric.SIZE**2
MASKS = st.one_of(
    arrays(bool, SHAPE, elements=st.booleans(), fill=st.booleans()),
    st.sampled_from([np.zeros(SHAPE, bool), np.ones(SHAPE, bool)]),
)


@pytest.fixture(scope="module")
def task():
    return load_task("identify-contrails")


@pytest.fixture(scope="module")
def data(task):
    return prepare_task(task, default_cache())


@pytest.fixture(scope="module")
def scenes():
    return [generator.draw_scene(chance(f"a test {number}")) for number in range(60)]


@given(mask=MASKS)
def test_a_decoded_mask_is_the_one_that_was_encoded(mask):
    assert (metric.decode(metric.encode(mask)) == mask).all()


def test_pixels_are_counted_from_one_row_by_row():
    mask = np.zeros(SHAPE, bool)
    mask[0, :2] = mask[1, 0] = mask[-1, -1] = True
    assert metric.encode(mask) == f"1 2 49 1 {PIXELS} 1"
    assert metric.encode(~mask) == f"3 46 50 {PIXELS - 50}"


@given(pairs=st.lists(st.tuples(MASKS, MASKS), min_size=1, max_size=3))
def test_dice_is_what_counting_pixel_by_pixel_finds(pairs):
    common = total = 0
    for guessed, marked in pairs:
        for row in range(metric.SIZE):
            for column in range(metric.SIZE):
                one, other = bool(guessed[row, column]), bool(marked[row, column])
                common += one and other
                total += one + other
    found = metric.global_dice(*zip(*pairs, strict=True))
    assert found == (2 * common / total if total else 1.0)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "is neither"),
        ("nan", "is neither"),
        ("about ten", "is neither"),
        ("- 1 2", "is neither"),
        ("0 1", "is neither"),
        ("1 0", "is neither"),
        ("1 -3", "is neither"),
        ("1.0 2", "is neither"),
        ("\u0661 2", "is neither"),
        ("9" * 5000 + " 1", "is neither"),
        ("1 2 7", "a start and no length"),
        ("5 3 7 2", "begins before the last one ended"),
        ("9 1 3 1", "begins before the last one ended"),
        ("2304 2", "ends behind pixel 2304"),
        ("2305 1", "ends behind pixel 2304"),
    ],
)
def test_a_cell_that_is_no_mask_is_refused_with_its_reason(
    task, tmp_path, cell, reason
):
    (tmp_path / "truth.csv").write_text("record_id,encoded_pixels\n7,1 2\n")
    answers = tmp_path / "submission.csv"
    answers.write_text(f"record_id,encoded_pixels\n7,{cell}\n", encoding="utf-8")
    with pytest.raises(SubmissionError, match=reason) as refusal:
        load_grade(task)(answers, tmp_path / "truth.csv")
    assert str(refusal.value).startswith("submission.csv, record_id 7: ")
    assert len(str(refusal.value)) < 200


def test_rows_are_judged_by_record_and_not_by_order(task, tmp_path):
    header = "record_id,encoded_pixels\n"
    (tmp_path / "truth.csv").write_text(f"{header}7,1 2\n8,-\n9,5 4\n")
    answers = tmp_path / "submission.csv"
    answers.write_text(f"{header}9,5 2 7 2\n8,1 2\n7,2 1\n")
    assert load_grade(task)(answers, tmp_path / "truth.csv") == 2 * 5 / (6 + 7)


def test_the_split_has_no_scene_twice_and_every_record_once(data):
    parts = ("train", "validation", "test")
    folder = data.public / "data"
    frames = [np.load(folder / f"{part}_frames.npy") for part in parts]
    assert [array.shape for array in frames] == [
        (count, 4, *SHAPE, 3) for count in (600, 200, 400)
    ]
    assert len({scene.tobytes() for array in frames for scene in array}) == 1200

    records = [row[0] for part in parts for row in _rows(folder / f"{part}.csv")]
    assert records == [str(number) for number in range(1, 1201)]
    hidden = _rows(data.private / "answers.csv")
    assert [row[0] for row in hidden] == records[800:]


def test_the_parts_of_the_split_are_alike(data):
    masks = np.load(data.public / "data" / "train_masks.npy")
    assert masks.shape == (600, *SHAPE)
    assert set(np.unique(masks)) == {0, 1}
    shares = [masks.mean()]
    for path in (data.public / "data/validation.csv", data.private / "answers.csv"):
        shares.append(np.mean([*metric.read_masks(path).values()]))
    assert all(0.02 < share < 0.05 for share in shares)


def test_a_scene_is_the_same_each_time_it_is_drawn(scenes):
    again = generator.draw_scene(chance("a test 3"))
    assert (again.frames == scenes[3].frames).all()
    assert (again.mask == scenes[3].mask).all()


def test_trails_are_thin_and_absent_from_some_scenes(scenes):
    sizes = np.array([scene.mask.sum() for scene in scenes])
    assert 0.15 < (sizes == 0).mean() < 0.5
    masks = np.stack([scene.mask for scene in scenes])
    deep = masks[:, 1:-1, 1:-1].copy()
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            deep &= masks[:, 1 + down : 47 + down, 1 + right : 47 + right]
    assert deep.sum() < 0.1 * masks.sum()


def test_no_single_band_or_difference_shows_the_trails(scenes):
    frames = np.stack([scene.frames[generator.LABELLED] for scene in scenes])
    short, middle, long = np.moveaxis(frames.astype(int), -1, 0)
    masks = np.stack([scene.mask for scene in scenes])
    for shown in (-short, -middle, -long, middle - long, middle - short):
        levels = np.quantile(shown, np.linspace(0.5, 0.995, 40))
        best = max(metric.global_dice(shown > level, masks) for level in levels)
        assert best < 0.35


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]
