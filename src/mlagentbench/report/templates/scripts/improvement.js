"use strict";
(() => {
  const { data, plain, colour, held, layout } = report;
  // Improvements beyond these are held at the edge, where their marks become arrows.
  const LOWEST = -1;
  const HIGHEST = 2;

  function rangeOf(bars) {
    const values = bars.flatMap((bar) => [bar.mean, ...bar.points.map((p) => p.value)]);
    const low = Math.max(LOWEST, Math.min(-0.05, ...values));
    const high = Math.min(HIGHEST, Math.max(2 * data.success_threshold, ...values));
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  }

  function mark(point, agent, range) {
    if (!point.valid) return "x-thin-open";
    if (point.value === held(point.value, range)) return report.symbol(agent);
    return point.value < range[0] ? "triangle-left" : "triangle-right";
  }

  function agentTraces(agent, bars, place, share, range) {
    const points = bars.flatMap((bar) => bar.points.map((p) => ({ ...p, y: place(bar) })));
    const painted = report.agentColour(agent);
    return [{
      type: "bar", orientation: "h", x: bars.map((bar) => bar.mean), y: bars.map(place),
      width: share * 0.86, hoverinfo: "text", hovertext: bars.map((bar) => plain(bar.text)),
      textposition: "none", marker: { color: painted, opacity: 0.4 },
    }, {
      type: "scatter", mode: "markers", x: points.map((p) => held(p.value, range)),
      y: points.map((p) => p.y), hoverinfo: "text", hovertext: points.map((p) => plain(p.text)),
      cliponaxis: false,
      marker: {
        size: 8, color: painted, symbol: points.map((p) => mark(p, agent, range)),
        line: { width: 1, color: points.map((p) => (p.valid ? colour("panel") : painted)) },
      },
    }];
  }

  report.drawings.improvement = (element) => {
    const agents = data.agents.filter((agent) => report.shows(agent));
    const tasks = data.tasks.map((task, place) => ({ ...task, place }))
      .filter((task) => report.shows({ task: task.task }));
    const bars = data.bars.filter((bar) =>
      agents.some((agent) => agent.place === bar.agent) && tasks.some((task) => task.place === bar.task));
    const range = rangeOf(bars);
    const share = 0.74 / Math.max(1, agents.length);
    const row = (bar) => tasks.findIndex((task) => task.place === bar.task);
    const lane = (bar) => agents.findIndex((agent) => agent.place === bar.agent);
    const place = (bar) => row(bar) + share * (lane(bar) - (agents.length - 1) / 2);
    const narrow = report.width(element) < 520;
    const line = (x, style) => ({
      type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: style,
    });
    const height = Math.max(34, (agents.length > 4 ? 10 : 18) * agents.length + 14);
    Plotly.react(element, agents.flatMap((agent) => agentTraces(
      agent.place, bars.filter((bar) => bar.agent === agent.place), place, share, range,
    )), layout({
      width: report.width(element), height: 72 + height * tasks.length, barmode: "overlay",
      margin: { l: 8, r: 16, t: 24, b: 32 },
      xaxis: { range, tickformat: "+.0%", side: "bottom" },
      yaxis: {
        range: [tasks.length - 0.5, -0.5], showgrid: false, tickcolor: "transparent",
        ticks: "outside", ticklen: 6, tickvals: tasks.map((_, i) => i),
        ticktext: tasks.map((task) => plain(report.short(narrow ? task.task : task.name, 40))),
        tickfont: { color: colour("ink") },
      },
      shapes: [
        ...tasks.slice(1).map((_, i) => ({
          type: "line", xref: "paper", x0: 0, x1: 1, y0: i + 0.5, y1: i + 0.5,
          line: { width: 1, color: colour("rule") },
        })),
        line(0, { width: 1, color: colour("muted") }),
        line(data.success_threshold, { width: 1.5, color: colour("accent"), dash: "dash" }),
      ],
      annotations: [{
        x: data.success_threshold, xanchor: "left", yref: "paper", y: 1, yanchor: "bottom",
        text: "success", showarrow: false, font: { color: colour("accent"), size: 11 },
      }],
    }), report.config);
  };
})();
