"""An experiment on disk: what was asked, the traces and the scorecards.

Nothing here loads the engine, so that reports and commands can read experiments fast.
"""
