"""Units of scores, and the file that holds them."""

import io

import numpy as np
import pytest

from mlagentbench.core.units import Aggregate, Units, dump_units, parse_units


def test_units_come_back_from_their_file():
    tables = {
        "mini/starter/0": Units(values=((1.5,), (2.25,)), clusters=(0, 1)),
        "run": Units(aggregate=Aggregate.RATIO, values=((1.0, 3.0), (0.5, 2.0))),
    }
    assert parse_units(dump_units(tables)) == tables


def test_numbers_of_clusters_are_counted_from_zero():
    found = parse_units(
        dump_units({"x": Units(values=((1.0,),) * 3, clusters=(9**15, 7, 7))})
    )
    assert found["x"].clusters == (1, 0, 0)


def test_ten_thousand_rows_take_less_than_fifty_kilobytes():
    values = np.random.default_rng(0).normal(size=10_000).tolist()
    data = dump_units({"x": Units(values=tuple((value,) for value in values))})
    assert len(data) < 50_000


def bomb():
    file = io.BytesIO()
    np.savez_compressed(file, **{"x/mean": np.zeros((9 << 20, 1))})
    return file.getvalue()


def with_objects():
    file = io.BytesIO()
    np.savez(file, **{"x/mean": np.array([[print]], dtype=object)})
    return file.getvalue()


WHOLE = dump_units({"x": Units(values=tuple((float(n),) for n in range(200)))})
NAN = io.BytesIO()
np.savez(NAN, **{"x/mean": np.array([[np.nan]])})


@pytest.mark.parametrize(
    "data",
    [
        b"", b"no archive", WHOLE[:100], WHOLE.replace(b"x/mean", b"x/most"),
        WHOLE[:150] + b"\xff" * 40 + WHOLE[190:], with_objects(), NAN.getvalue(),
        bomb(),
    ],
)  # fmt: skip
def test_a_damaged_file_holds_no_units(data):
    assert parse_units(data) == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"values": ()},
        {"values": ((),)},
        {"values": ((1.0,), (1.0, 2.0))},
        {"values": ((1.0, 2.0),)},
        {"values": ((1.0,),), "aggregate": "ratio"},
        {"values": ((float("nan"),),)},
        {"values": ((1.0,),), "clusters": (1, 2)},
    ],
)
def test_rows_that_do_not_fit_their_aggregate_are_refused(fields):
    with pytest.raises(ValueError, match=r"units|rows|finite"):
        Units(**fields)
