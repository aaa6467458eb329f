"""How models say what to do: one file per language, all with the same contract."""
