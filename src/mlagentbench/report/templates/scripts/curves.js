"use strict";
// Scores by step, in two panels: validation data, and test data with the baselines.
(() => {
  const { data, plain, colour, held, layout } = report;

  // One trace holds all runs of an agent, with gaps between them: hundreds of traces
  // would take seconds to draw.
  const joined = (runs, read) => runs.flatMap((run) => [...read(run), null]);

  const ends = (run, i) => run.submitted && i === run.steps.length - 1;

  function marks(agent, runs, panel, task) {
    const painted = report.agentColour(agent.place);
    const values = joined(runs, (run) => run.values);
    const last = joined(runs, (run) => run.steps.map((_, i) => ends(run, i)));
    const hover = (run) => run.steps.map((step, i) => plain(
      `${agent.who}, seed ${run.seed}\n${ends(run, i) ? "submission" : `step ${step}`}: ${run.shown[i]} ${task.unit}`));
    return {
      type: "scatter", mode: "markers", cliponaxis: false, hoverinfo: "text",
      x: joined(runs, (run) => run.steps), hovertext: joined(runs, hover),
      y: values.map((value) => (value === null ? null : held(value, panel.span))),
      marker: {
        size: last.map((is) => (is ? 9 : 6)), opacity: 0.85, color: painted, line: { width: 0 },
        symbol: values.map((value, i) => {
          if (value !== null && value < panel.span[0]) return "triangle-down-open";
          if (value !== null && value > panel.span[1]) return "triangle-up-open";
          return `${report.symbol(agent.place)}${runs[0].test && !last[i] ? "-open" : ""}`;
        }),
      },
    };
  }

  const lines = (agent, runs, panel, look) => ({
    type: "scatter", mode: "lines", hoverinfo: "skip", connectgaps: false,
    x: joined(runs, (run) => run.steps),
    y: joined(runs, (run) => run.line.map((value) => held(value, panel.span))),
    opacity: look.opacity,
    line: { shape: "hv", width: look.width, dash: look.dash, color: report.agentColour(agent.place) },
  });

  // Of many runs the single lines only show the spread, behind their median.
  function crowd(agent, runs, median, panel, task) {
    const painted = report.agentColour(agent.place);
    const submissions = runs.filter((run) => run.submitted);
    return [lines(agent, runs, panel, { opacity: 0.22, width: 1 }), {
      type: "scatter", mode: "lines", hoverinfo: "text", cliponaxis: false,
      x: median.steps, y: median.values.map((value) => held(value, panel.span)),
      hovertext: median.steps.map((step, i) => plain(
        `${agent.who}, median of ${runs.length} runs\nstep ${step}: ${median.values[i]} ${task.unit}`)),
      line: { shape: "hv", width: 2.5, color: painted },
    }, {
      type: "scatter", mode: "markers", hoverinfo: "skip", cliponaxis: false,
      x: submissions.map((run) => run.steps.at(-1)),
      y: submissions.map((run) => held(run.line.at(-1), panel.span)),
      marker: { size: 5, opacity: 0.6, color: painted, symbol: report.symbol(agent.place) },
    }];
  }

  const graded = (curve) => curve.test.steps.length > Number(curve.submitted);
  // Submissions of several runs, if no other step was graded: by agent, not by step.
  const strip = (task, split) => split === "test" && task.curves.length > 1 && !task.curves.some(graded);

  function agentTraces(agent, task, split) {
    const panel = task[split];
    const runs = task.curves
      .filter((curve) => curve.agent === agent.place && curve[split].steps.length)
      .map((curve) => ({
        ...curve[split], seed: curve.seed, test: split === "test",
        submitted: split === "test" && curve.submitted,
      }));
    if (!runs.length) return [];
    if (strip(task, split)) {
      // Beside each other, because all are at the end of a run.
      const shown = data.agents.filter((one) => report.shows(one)).indexOf(agent);
      runs.forEach((run, i) => { run.steps = [shown + 0.5 * ((i + 0.5) / runs.length - 0.5)]; });
      return [marks(agent, runs, panel, task)];
    }
    const median = panel.medians.find((line) => line.agent === agent.place);
    if (median) return crowd(agent, runs, median, panel, task);
    const look = split === "test" ? { width: 1.5, dash: "dot" } : { width: 2 };
    return [lines(agent, runs, panel, look), marks(agent, runs, panel, task)];
  }

  // Labels of lines that are close to each other move apart, in pixels.
  function apart(values, [low, high], height) {
    const at = values.map((value) => (height * (value - low)) / (high - low));
    const order = at.map((_, i) => i).sort((a, b) => at[a] - at[b]);
    const shifts = at.map(() => 0);
    order.slice(1).forEach((place, i) => {
      const below = order[i];
      shifts[place] = Math.max(0, at[below] + shifts[below] + 13 - at[place]);
    });
    return shifts;
  }

  const DASHES = report.dashes;
  const HEIGHT = 210;
  const MARGIN = { t: 10, b: 40 };

  function draw(element, split) {
    const task = data.by_step[element.dataset.place];
    const panel = task[split];
    const agents = data.agents.filter((agent) => report.shows(agent));
    const tint = (line) => colour(line.name === "success threshold" ? "accent" : "muted");
    const shifts = apart(panel.lines.map((line) => line.value), panel.span, HEIGHT - MARGIN.t - MARGIN.b);
    Plotly.react(element, agents.flatMap((agent) => agentTraces(agent, task, split)), layout({
      width: report.width(element), height: HEIGHT,
      margin: { l: 8, r: panel.lines.length ? 64 : 16, ...MARGIN },
      xaxis: strip(task, split) ? {
        title: { text: "submissions by agent", standoff: 8, font: { size: 12 } }, showgrid: false,
        range: [-0.5, agents.length - 0.5], showticklabels: false,
      } : {
        title: { text: "step", standoff: 4, font: { size: 12 } }, showgrid: false,
        range: [0, 1.03 * task.last_step], dtick: task.last_step < 8 ? 1 : null, nticks: 7,
      },
      yaxis: {
        range: panel.span, nticks: 5,
        title: { text: plain(report.short(task.unit || task.metric, 24)), standoff: 6, font: { size: 11 } },
      },
      shapes: panel.lines.map((line) => ({
        type: "line", xref: "paper", x0: 0, x1: 1, y0: line.value, y1: line.value, layer: "below",
        line: { width: 1.5, dash: DASHES[line.name], color: tint(line) },
      })),
      annotations: panel.lines.map((line, i) => ({
        xref: "paper", x: 1, xanchor: "left", xshift: 4, y: line.value, yshift: shifts[i],
        yanchor: "middle", text: line.name.split(" ")[0], showarrow: false, font: { size: 11, color: tint(line) },
      })),
    }), report.config);
  }

  report.drawings.validation = (element) => draw(element, "validation");
  report.drawings.test = (element) => draw(element, "test");
})();
