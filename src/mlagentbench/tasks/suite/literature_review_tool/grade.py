"""Judge reports: ranking of what they refer to, whether it exists, completeness."""

from pathlib import Path

from mlagentbench.core.turns import OUTPUTS
from mlagentbench.tasks.suite_papers import read_texts

from .metric import mean_score, read_known, read_questions, score_report


def grade(answers: Path, truth: Path) -> float:
    """Score the reports on all questions against what indexers found relevant."""
    known = read_known(truth.with_name("papers.jsonl"))
    questions = read_questions(truth)
    scores = []
    for name in dict.fromkeys(question.input for question in questions):
        asked = [question for question in questions if question.input == name]
        reports = read_texts(answers / OUTPUTS / name, len(asked))
        scores += [
            score_report(report, question.relevant, known)
            for report, question in zip(reports, asked, strict=True)
        ]
    return mean_score(scores)
