import pytest

from mlagentbench.core.scorecard import Starter
from mlagentbench.core.task import Direction
from mlagentbench.core.text import embedded
from mlagentbench.core.trace import Ending, Measurement, Trace
from mlagentbench.report.charts import Charts, best_so_far
from mlagentbench.report.charts import charts as charts_of
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.editions import editions


def charts(view: ExperimentView) -> Charts:
    return charts_of(view, editions(view.cards))


def measured_view(card, step, values) -> ExperimentView:
    steps = tuple(
        step(card.run, place, validation=Measurement(metric="MAE", value=value))
        for place, value in enumerate(values, start=1)
    )
    trace = Trace(run=card.run, steps=steps)
    return ExperimentView(title="t", created="now", cards=(card,), traces=(trace,))


def test_best_so_far_follows_the_direction():
    assert best_so_far([3, 5, 2, 4], Direction.HIGHER) == [3, 5, 5, 5]
    assert best_so_far([3, 5, 2, 4], Direction.LOWER) == [3, 3, 2, 2]


def test_a_bar_is_the_mean_of_its_runs_and_shows_the_failed_ones(card):
    failed = card(seed=1, score=None, improvement=None, success=False)
    view = ExperimentView(title="t", created="now", cards=(card(), failed))
    (bar,) = charts(view).bars
    assert bar.mean == pytest.approx(card().improvement / 2)
    assert [point.valid for point in bar.points] == [True, False]
    assert "no valid submission" in bar.points[1].text


def test_runs_that_do_not_count_or_compare_have_no_bar(card):
    broken = card(ending=Ending.BROKEN, improvement=None)
    unmeasured = card(task="new", starter=None, improvement=None)
    view = ExperimentView(title="t", created="now", cards=(broken, unmeasured))
    assert charts(view).bars == ()


def test_steps_without_a_measurement_have_no_mark(card, step):
    one = card()
    steps = (
        step(one.run, 1),
        step(one.run, 2, validation=Measurement(metric="MAE", value=20000.0)),
    )
    trace = Trace(run=one.run, steps=steps)
    view = ExperimentView(title="t", created="now", cards=(one,), traces=(trace,))
    (curve,) = charts(view).by_step[0].curves
    assert curve.validation.steps == (2,)


def test_a_task_nothing_was_measured_on_has_no_chart(card, step):
    trace = Trace(run=card().run, steps=(step(card().run),))
    view = ExperimentView(title="t", created="now", cards=(card(),), traces=(trace,))
    assert charts(view).by_step == ()


def test_a_wild_value_does_not_flatten_the_chart(card, step):
    view = measured_view(card(), step, [900000.0, 20500.0, 185078.0, 19000.0])
    (task,) = charts(view).by_step
    assert task.curves[0].validation.values[2] == 185078.0
    low, high = task.validation.span
    assert low < 19000.0 < 20500.0 < high < 40000


def test_validation_and_test_scores_have_separate_panels(card, step):
    view = measured_view(card(), step, [20500.0, 19000.0])
    graded = view.model_copy(update={"step_scores": {card().run: ((1, 20100.0),)}})
    (task,) = charts(graded).by_step
    assert task.validation.lines == ()
    assert [line.name for line in task.test.lines] == ["starter", "success threshold"]
    (curve,) = task.curves
    assert (curve.validation.steps, curve.test.steps) == ((1, 2), (1, 2))
    assert curve.test.values == (20100.0, 17900.6)
    assert curve.test.values[0] not in curve.validation.values


def test_each_panel_has_the_baselines_on_its_own_data(scored):
    task = charts(scored).by_step[0]
    assert [line.name for line in task.validation.lines] == [
        *("starter", "tuning baseline", "reference")
    ]
    assert [line.name for line in task.test.lines] == [
        *("starter", "tuning baseline", "success threshold", "reference")
    ]


def test_baselines_are_drawn_beside_the_costs_as_normalised_scores(scored):
    (edition,) = charts(scored).editions
    assert [(line.name, line.value) for line in edition.cost_lines] == [
        ("starter", 0.0), ("tuning baseline", 0.4), ("reference", 1.0),
    ]  # fmt: skip
    assert all(map(edition.has_costs, ("steps", "seconds", "tokens", "dollars")))


def test_costs_that_no_run_had_are_not_drawn(card, step):
    view = measured_view(
        card(normalised=0.5, reference=Starter(mean=1.0, sd=0.1, n=8)), step, [20500.0]
    )
    graded = view.model_copy(update={"step_scores": {card().run: ((1, 20100.0),)}})
    (edition,) = charts(graded).editions
    assert edition.has_costs("steps")
    assert not edition.has_costs("tokens")


def test_a_run_without_a_score_has_no_test_panel(card, step):
    failed = card(score=None, improvement=None, success=False)
    (task,) = charts(measured_view(failed, step, [20500.0])).by_step
    assert task.validation is not None
    assert task.test is None


@pytest.mark.parametrize("wild", [1.7e308, -1.7e308, float("inf"), float("nan")])
def test_absurd_values_can_still_be_drawn(card, step, wild):
    view = measured_view(card(improvement=wild), step, [wild, 20000.0, wild])
    assert "NaN" not in embedded(charts(view))


def test_a_single_measurement_without_a_starter_gets_an_axis(card, step):
    view = measured_view(card(starter=None, improvement=None), step, [5.0])
    low, high = charts(view).by_step[0].validation.span
    assert low < 5.0 < high


def test_what_is_drawn_of_averages_names_agents_by_their_place(experiment):
    drawn = charts(experiment)
    (edition,) = drawn.editions
    assert [share.agent for share in edition.outcomes] == [0, 1, 2]
    assert len(edition.outcomes[0].parts) == len(drawn.outcome_names)
    assert [curve.column.place for curve in edition.budgets] == [0, 1, 2]
    assert {front.unit for front in edition.fronts} == {"tokens", "cost"}


def test_agents_with_many_runs_get_a_median(experiment_of):
    crowded = charts(experiment_of(seeds=5, steps=6)).by_step[0]
    assert {line.agent for line in crowded.validation.medians} == {0, 1, 2}
    assert crowded.test.medians == ()
    few = charts(experiment_of(seeds=2, steps=6)).by_step[0]
    assert few.validation.medians == ()


def test_hostile_names_can_be_embedded(card):
    view = ExperimentView(
        title="t", created="now", cards=(card(agent="\ud800</script>", model="\x00"),)
    )
    written = embedded(charts(view))
    assert "</script>" not in written
    assert "\ufffd" in charts(view).agents[0].agent
