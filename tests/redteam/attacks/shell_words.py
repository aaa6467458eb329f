"""Do nothing: the name under which this is written and executed is the attack."""
