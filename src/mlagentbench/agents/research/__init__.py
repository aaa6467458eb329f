"""The research agent: the modern one, or the paper's (`-A style=classic`)."""
