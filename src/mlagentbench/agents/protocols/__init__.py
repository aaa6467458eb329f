"""How models say what to do: one file per protocol, all with the same contract."""
