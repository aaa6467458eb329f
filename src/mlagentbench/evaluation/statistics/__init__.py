"""How sure a number is: intervals, tests between agents, and what noise allows."""
