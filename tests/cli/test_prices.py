"""Prices on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

MLAB = Path(sys.executable).parent / "mlab"


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
def test_a_price_that_is_missing_or_odd_is_one_helpful_sentence(tmp_path, words, hint):
    (tmp_path / "odd.toml").write_text("[m]\ninput = 'much'\noutput = 1\n")
    done = subprocess.run(
        [MLAB, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["odd.toml"]
