"""LLM judge: a model rates how a run was done. Its opinion changes no score.

Every vote is appended to the experiment's `opinions.jsonl` when it arrives, so that no
paid reply is lost and an opinion can be computed again.
"""
