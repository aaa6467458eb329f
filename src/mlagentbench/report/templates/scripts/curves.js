"use strict";
(() => {
  const { data, plain, colour, held, layout } = report;

  // One trace holds all runs of an agent, with gaps between them: hundreds of traces
  // would take seconds to draw.
  const joined = (curves, read) => curves.flatMap((curve) => [...read(curve), null]);

  const range = (curve, name, task) => curve[name].map((value) => held(value, task.span));

  function marks(agent, curves, task) {
    const values = joined(curves, (curve) => curve.values);
    const hover = (curve) => curve.steps.map((step, i) =>
      plain(`${agent.who}, seed ${curve.seed}\nstep ${step}: ${curve.shown[i]} ${task.unit}`));
    return {
      type: "scatter", mode: "markers", cliponaxis: false, hoverinfo: "text",
      x: joined(curves, (curve) => curve.steps), hovertext: joined(curves, hover),
      y: values.map((value) => (value === null ? null : held(value, task.span))),
      marker: {
        size: 6, opacity: 0.75, color: report.agentColour(agent.place),
        symbol: values.map((value) => {
          if (value === null || value === held(value, task.span)) return report.symbol(agent.place);
          return value < task.span[0] ? "triangle-down-open" : "triangle-up-open";
        }),
      },
    };
  }

  function single(agent, curves, task) {
    const painted = report.agentColour(agent.place);
    return [{
      type: "scatter", mode: "lines", hoverinfo: "skip", connectgaps: false,
      x: joined(curves, (curve) => curve.steps), y: joined(curves, (curve) => curve.best),
      line: { shape: "hv", width: 2, color: painted },
    }, marks(agent, curves, task), {
      type: "scatter", mode: "lines+markers", hoverinfo: "y", connectgaps: false,
      x: joined(curves, (curve) => curve.held_out_steps),
      y: joined(curves, (curve) => range(curve, "held_out", task)),
      line: { shape: "hv", width: 1, dash: "dot", color: painted },
      marker: { size: 5, symbol: "diamond-open", color: painted },
    }];
  }

  // Of many runs the single lines only show the spread, behind their median.
  function crowd(agent, curves, medians, task) {
    const painted = report.agentColour(agent.place);
    const faint = {
      type: "scatter", mode: "lines", hoverinfo: "skip", connectgaps: false, opacity: 0.22,
      x: joined(curves, (curve) => curve.steps), y: joined(curves, (curve) => curve.best),
      line: { shape: "hv", width: 1, color: painted },
    };
    return [faint, ...medians.map((line) => ({
      type: "scatter", mode: line.held_out ? "lines+markers" : "lines", hoverinfo: "text",
      x: line.steps, y: range(line, "values", task), cliponaxis: false,
      hovertext: line.steps.map((step, i) => plain(
        `${agent.who}, median of ${curves.length} runs\nstep ${step}: ${line.values[i]} ${task.unit}`)),
      line: { shape: "hv", width: line.held_out ? 1.5 : 2.5, dash: line.held_out ? "dot" : "solid", color: painted },
      marker: { size: 7, symbol: `${report.symbol(agent.place)}-open`, color: painted },
    }))];
  }

  function agentTraces(agent, task) {
    const curves = task.curves.filter((curve) => curve.agent === agent.place);
    const medians = task.medians.filter((line) => line.agent === agent.place);
    return medians.length ? crowd(agent, curves, medians, task) : single(agent, curves, task);
  }

  report.drawings.validation = (element) => {
    const task = data.validation[element.dataset.place];
    const agents = data.agents.filter((agent) => report.shows(agent));
    const lines = [
      [task.starter, "starter", "muted"], [task.threshold, "success", "accent"],
    ].filter(([value]) => value !== null);
    const steps = Math.max(...task.curves.flatMap((curve) => curve.steps));
    Plotly.react(element, agents.flatMap((agent) => agentTraces(agent, task)), layout({
      width: report.width(element), height: 220, margin: { l: 8, r: 56, t: 8, b: 32 },
      xaxis: {
        title: { text: "step", standoff: 4 }, rangemode: "tozero", showgrid: false,
        dtick: steps < 8 ? 1 : null,
      },
      yaxis: { range: task.span, nticks: 5 },
      shapes: lines.map(([y, , name]) => ({
        type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, layer: "below",
        line: { width: 1.5, dash: name === "muted" ? "dot" : "dash", color: colour(name) },
      })),
      annotations: lines.map(([y, text, name]) => ({
        xref: "paper", x: 1, xanchor: "left", xshift: 4, y, yanchor: "middle", text,
        showarrow: false, font: { size: 11, color: colour(name) },
      })),
    }), report.config);
  };
})();
