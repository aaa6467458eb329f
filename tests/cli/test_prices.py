"""Prices on the command line."""

import pytest


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["score", ".", "--prices", "none.toml"], "none.toml cannot be read"),
        (["score", ".", "--prices", "odd.toml"], "m.input"),
        (
            ["run", "house-price", "--model", "openai/x", "--max-cost", "1", "--yes"],
            "--max-cost needs a price for openai/x",
        ),
    ],
)
def test_a_price_that_is_missing_or_odd_is_one_helpful_sentence(
    mlab, tmp_path, words, hint
):
    (tmp_path / "odd.toml").write_text("[m]\ninput = 'much'\noutput = 1\n")
    done = mlab(*words)
    assert done.code == 2
    assert hint in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["odd.toml"]
