"""One file per check: a story in, findings out, the step at fault named first."""
