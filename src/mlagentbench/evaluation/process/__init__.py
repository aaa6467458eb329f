"""How soundly a run was worked: rules over its trace, each with the text it rests on.

`examine` looks a run over with every check in its table. `failure` says in the
paper's words why a run did not succeed. No rule reads anything but the trace, the task
and the verdict; what a model wrote is only ever searched, never evaluated.
"""
