from mlagentbench.core.trace import Measurement, Trace
from mlagentbench.report.run_steps import step_rows


def rows_of(*steps, **more):
    return step_rows(Trace(run="r", steps=steps), **more)


def test_a_step_is_cut_to_its_first_lines(step):
    long = "\n".join(str(number) for number in range(1000))
    (row,) = rows_of(
        step("r", input={"content": long, "lines": [1, 2]}, observation=long)
    )
    assert row.observation.startswith("0\n1\n2\n")
    assert "\n19 ... (" in row.observation
    assert row.input[0].text.startswith("0\n1\n2\n")
    assert row.input[1].text == "[1, 2]"


def test_a_failed_step_shows_how_its_output_ends(step):
    trouble = "\n".join(["noise"] * 1000 + ["ValueError: no such column"])
    (row,) = rows_of(step("r", ok=False, observation=trouble))
    assert row.observation.endswith("ValueError: no such column")
    assert row.observation.startswith("(5,")


def test_a_step_tells_its_validation_its_failure_and_its_time(step):
    measured = Measurement(metric="MAE", value=20321.7)
    one = step("r", validation=measured, ok=False, error="time_out")
    (row,) = rows_of(one, unit="USD")
    assert row.validation == "20,322 USD"
    assert row.failed == "time out"
    assert row.seconds == "4.0 s"


def test_a_step_with_endless_inputs_stays_short(step):
    one = step("r", action="a" * 10**6, input={f"k{n}": "v" for n in range(1000)})
    (row,) = rows_of(one)
    assert len(row.action) < 120
    assert len(row.input) == 8


def test_a_file_that_is_written_again_is_told_by_what_became_different(step):
    def wrote(number, content):
        given = {"file_name": "train.py", "content": content}
        return step("r", number, action="Write File", input=given)

    first, second, third = rows_of(
        wrote(1, "a = 1\nb = 2\n"),
        wrote(2, "a = 1\nb = 3\n"),
        wrote(3, "a = 1\nb = 3\n"),
    )
    assert first.input[1].text == "a = 1\nb = 2"
    assert "-b = 2\n+b = 3" in second.input[1].text
    assert third.input[1].text == "as before"


def test_where_not_all_steps_have_room_the_telling_ones_stay_in_order(step):
    steps = [step("r", number) for number in range(1, 41)]
    steps[9] = step("r", 10, ok=False)
    steps[19] = step("r", 20, validation=Measurement(metric="MAE", value=1.0))
    rows = rows_of(*steps, room=5 * 270, telling={5})
    assert [row.number for row in rows] == [1, 5, 10, 20, 40]


def test_without_any_room_no_step_is_shown(step):
    assert rows_of(step("r"), room=10) == ()
