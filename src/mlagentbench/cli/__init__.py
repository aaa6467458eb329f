"""Parse, call, print: the `mlab` command, one file per command.

Commands import what they need when they are called, so that `mlab --help` and
`mlab tasks` answer at once.
"""
