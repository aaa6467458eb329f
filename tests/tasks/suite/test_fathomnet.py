import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.code_task import csv_rows

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.suite.fathomnet import metric, scenes
from mlagentbench.tasks.suite.fathomnet.rendering import paint
from mlagentbench.tasks.suite_data import generator
from mlagentbench.tasks.task_code import load_grade

TASK = "fathomnet"
HEADER = "Id,categories,osd\n"
RANKINGS = st.lists(st.sampled_from(metric.CATEGORIES), unique=True, max_size=20)
TRUTHS = st.sets(st.sampled_from(metric.CATEGORIES), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def planned():
    pools = {kind: iter(range(kind * 10**6, (kind + 1) * 10**6)) for kind in range(10)}
    return {part.name: scenes.plan(part, pools) for part in scenes.PARTS}


@pytest.fixture
def graded(tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text(f"{HEADER}1,3 7,0\n2,21,1\n")
    grade = load_grade(load_task(TASK))

    def judge(rows):
        answers = tmp_path / "submission.csv"
        answers.write_text(HEADER + rows)
        return grade(answers, truth)

    return judge


@given(ranked=RANKINGS, true=TRUTHS)
def test_average_precision_is_what_plain_counting_gives(ranked, true):
    precisions = [
        sum(other in true for other in ranked[: place + 1]) / (place + 1)
        for place, category in enumerate(ranked)
        if category in true
    ]
    expected = sum(precisions) / len(true)
    assert metric.average_precision(ranked, true) == pytest.approx(expected)


@given(
    osds=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=2, max_size=30)
)
def test_the_area_is_the_share_of_pairs_in_the_right_order(osds):
    true = [place % 2 for place in range(len(osds))]
    pairs = [
        (high > low) + 0.5 * (high == low)
        for high, unknown in zip(osds, true, strict=True)
        for low, known in zip(osds, true, strict=True)
        if unknown and not known
    ]
    area = metric.area_under_curve(zip(osds, true, strict=True))
    assert area == pytest.approx(sum(pairs) / len(pairs))


def test_the_score_is_the_mean_of_both_halves(graded):
    assert graded("1,7 3,0\n2,21,1\n") == 1.0
    assert graded("1,7 3,0.5\n2,21,0.5\n") == 0.5
    assert graded("1,7 1 3,1\n2,1 21,0\n") == pytest.approx(
        (-1 + (5 / 6 + 1 / 2) / 2) / 2
    )


@pytest.mark.parametrize(
    "row",
    [
        "1,3 3,0.5",
        "1,22,0.5",
        "1,03,0.5",
        "1,3  7,0.5",
        "1," + " ".join(metric.CATEGORIES) + ",0.5",
        "1,3,1.01",
        "1,3,-0.1",
        "1,3,nan",
        "1,3,1e-99999",
        "1,3,0_1",
        "1,3,...",
    ],
)
def test_rankings_and_likelihoods_out_of_form_are_refused(graded, row):
    with pytest.raises(SubmissionError):
        graded(f"{row}\n2,21,1\n")


def test_no_picture_is_used_twice(planned):
    pictures = [
        thing.picture
        for part in planned.values()
        for scene in part
        for thing in scene.things
    ]
    assert len(pictures) == len({*pictures})


def test_unknown_kinds_are_where_they_belong_and_never_alone(planned):
    known = {kind for kind, _ in scenes.CATEGORIES}
    for part in scenes.PARTS:
        for scene in planned[part.name]:
            strange = {thing.kind for thing in scene.things} - known
            assert strange <= {*part.unknown_kinds}
            assert scene.unknown == bool(strange)
            assert scene.categories
    assert not {*scenes.UNKNOWN_IN_TEST} & {*scenes.UNKNOWN_IN_VALIDATION}


def test_categories_have_a_long_tail(planned):
    seen = [category for scene in planned["train"] for category in scene.categories]
    counts = np.bincount(seen, minlength=22)[1:]
    assert counts.max() > 3 * counts.min() > 300


def test_deep_scenes_are_painted_bluer_fainter_and_alike_each_time(planned):
    pictures = np.zeros((8, 32, 32, 3), np.uint8)
    pictures[:, 16:] = 255
    things = (scenes.Thing(3, 0, "disc"), scenes.Thing(5, 1, "square"))
    scene = planned["train"][0]._replace(things=things, depth=0.0)

    def painted(depth):
        chance = generator("test")
        return paint(scene._replace(depth=depth), pictures, chance).astype(float)

    def redness(image):
        return image[..., 0].mean() / image[..., 2].mean()

    shallow, deep = painted(0.0), painted(1.0)
    assert np.array_equal(shallow, painted(0.0))
    assert redness(deep) < redness(shallow)
    assert deep.std(axis=(0, 1)).mean() < shallow.std(axis=(0, 1)).mean()


def test_images_and_rows_fit_and_ids_are_shared_out(prepared):
    ids = []
    for part in scenes.PARTS:
        rows = csv_rows(prepared.public / f"data/{part.name}.csv")
        images = np.load(prepared.public / f"data/{part.name}_images.npy")
        assert images.shape == (len(rows), 48, 48, 3)
        ids += [int(row["Id"]) for row in rows]
    assert sorted(ids) == list(range(1, len(ids) + 1))
    test_rows = csv_rows(prepared.public / "data/test.csv")
    answers = csv_rows(prepared.private / "answers.csv")
    assert [row["Id"] for row in test_rows] == [row["Id"] for row in answers]


def test_ids_do_not_tell_whether_something_is_unknown(prepared):
    rows = csv_rows(prepared.private / "answers.csv")
    pairs = [(float(row["Id"]), int(row["osd"])) for row in rows]
    assert metric.area_under_curve(pairs) == pytest.approx(0.5, abs=0.04)
