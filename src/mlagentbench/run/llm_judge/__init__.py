"""A judge's opinion of how a run was worked: asked for afterwards, never a score.

Every vote is kept in the experiment's `opinions.jsonl` as it comes, so that no paid
reply is lost and an opinion can be put together again.
"""
