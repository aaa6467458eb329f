"""Process checks: rules over a trace, each with the text it rests on.

`examine` applies every check of its table. `failure` names the failure mode. A rule
reads only the trace, the task and the grade. Text that a model wrote is searched, never
executed.
"""
