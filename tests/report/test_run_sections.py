"""The page's sections about runs, written as HTML."""

import random
import re

import pytest

from mlagentbench.core.scorecard import Finding, Mark, Opinion, ProcessCheck
from mlagentbench.report.data import CodeChanges, ExperimentView, code_changes
from mlagentbench.report.page import render

HOSTILE = (
    "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&\u200b"
)


def with_everything(view: ExperimentView, text: str) -> ExperimentView:
    """Put a text wherever an agent, a file or a judge could have put it."""
    finding = Finding(steps=(1, 2), quote=text, why=text)
    check = ProcessCheck(value=3, evidence=(finding,) * 3)
    mark = Mark(median=3, votes=(3,), quote=text)
    told = {
        "process": {"claims_without_evidence": check, "loops": check},
        "opinion": Opinion(model=text[:60], marks={"plan": mark}),
        "reason": text,
        "actions": {text: 3},
    }
    changes = CodeChanges(
        files=code_changes({"a.py": "a\nb"}, {"a.py": f"a\n{text}", text[:90]: text}),
        others=(text[:200],),
    )
    traces = [
        trace.model_copy(
            update={"steps": tuple(_filled(step, text) for step in trace.steps)}
        )
        for trace in view.traces
    ]
    return view.model_copy(
        update={
            "cards": tuple(card.model_copy(update=told) for card in view.cards),
            "traces": tuple(traces),
            "code": {card.run: changes for card in view.cards},
        }
    )


def _filled(step, text):
    said = {"fields": {"Research Plan": f"{step.step} {text}"}, "observation": text}
    return step.model_copy(update=said | {"input": {"script_name": text}})


@pytest.mark.slow
def test_a_page_of_416_runs_of_50_steps_stays_under_6_megabytes(experiment_of):
    view = experiment_of(seeds=35, steps=50)
    long = "".join(random.Random(1).choices("abc '<&\u200b\n", k=3_000))
    page = render(with_everything(view, long))
    assert len(view.cards) >= 416
    assert len(page.encode()) < 6_000_000
    assert "steps are shown: those that findings name" in page


def test_a_small_page_shows_every_step_and_says_nothing_of_leaving_out(experiment):
    page = render(experiment)
    assert "steps are shown: those" not in page
    assert page.count('<li id="run-1.') == 14


def test_hostile_text_is_text_wherever_it_stands(experiment):
    page = render(with_everything(experiment, HOSTILE))
    own = page[page.index('<section id="steps">') :]
    assert own.count("&lt;img src=x onerror=alert(2)&gt;") > 100
    assert "<img" not in page
    assert "<script>alert" not in page
    assert "\u200b" not in own


def test_the_diff_marks_lines_by_sign_and_not_by_colour_alone(experiment):
    page = render(with_everything(experiment, "b = 2"))
    assert "<del>-b\n</del>" in page
    assert "<ins>+b = 2\n</ins>" in page


def test_a_diff_is_cut_and_says_how_much_is_left_out(experiment):
    after = "\n".join(f"line {number}" for number in range(1_200))
    names = [f"{number}.py" for number in range(10)]
    changes = CodeChanges(
        files=code_changes({}, dict.fromkeys(names, after)),
        others=tuple(f"{number}.csv" for number in range(20)),
        note="from the submission",
    )
    run = experiment.cards[0].run
    page = render(experiment.model_copy(update={"code": {run: changes}}))
    assert "<small>new, +1,200 -0 lines</small>" in page
    assert re.search(r"<i>\.\.\. \d+ more lines</i></pre>", page)
    assert "2 more files were changed." in page
    assert "5.csv and 14 more." in page


def test_findings_are_sorted_by_number_and_name_their_first_steps(experiment):
    finding = Finding(steps=tuple(range(1, 301)), quote="val 0.93", why="Not so.")
    process = {
        name: ProcessCheck(value=count, evidence=(finding,) * count)
        for name, count in (("loops", 1), ("claims_made", 3), ("none", 0))
    }
    card = experiment.cards[0].model_copy(update={"process": process})
    page = render(experiment.model_copy(update={"cards": (card,)}))
    assert '<b>claims made</b> <span class="tag">3 times</span>' in page
    assert page.index("<b>claims made</b>") < page.index("<b>loops</b>")
    assert "<b>none</b>" not in page
    assert "</a> and 288 more: Not so.</p>\n<blockquote>val 0.93</blockquote>" in page


def test_a_rating_says_how_far_it_can_be_trusted(experiment):
    opinion = Opinion(
        model="example/judge",
        marks={"plan_quality": Mark(median=3.5, votes=(3, 4), quote="It has a plan.")},
        agrees_with_itself=1.0,
        agrees_with_rules=0.5,
        unreadable=1,
        cost_usd=0.2,
    )
    card = experiment.cards[0].model_copy(update={"opinion": opinion})
    page = render(experiment.model_copy(update={"cards": (card,)}))
    assert "<dt>plan quality</dt><dd><b>3.5</b> <small>votes 3, 4</small>" in page
    assert (
        "Its votes agree with each other in 100 %. It agrees with the checks in 50 %."
        " 1 vote could not be read. It cost $0.20"
    ) in page


def test_findings_link_to_steps_and_ratings_change_no_score(experiment):
    page = render(with_everything(experiment, "x"))
    assert 'Steps <a href="#run-1.1">1</a>, <a href="#run-1.2">2</a>: x' in page
    assert '<li id="run-1.2">' in page
    assert "<h4>LLM-judge rating</h4>" in page
    assert "The rating changes no score." in page


def test_rows_and_folds_carry_what_filters_look_at(experiment):
    page = render(experiment)
    wanted = (
        'data-task="cifar10" data-agent="research" data-model="example/large-model-1"'
    )
    assert page.count(f"<tr {wanted}") == 3
    assert len(re.findall(f'<details id="run-[0-9]+" {wanted}>', page)) == 3


def test_the_endings_add_up_to_all_runs(experiment):
    page = render(experiment)
    (foot,) = re.findall(r'<section id="endings">.*?<tfoot>(.*?)</tfoot>', page, re.S)
    *parts, total = [int(number) for number in re.findall(r">(\d+)<", foot)]
    assert sum(parts) == total == len(experiment.cards) + 1


@pytest.mark.parametrize("runs", [1, 40])
def test_every_run_says_where_the_rest_of_it_is(experiment_of, runs):
    page = render(experiment_of(seeds=runs, steps=4))
    assert "<code>mlab show</code> prints the full text" in page
