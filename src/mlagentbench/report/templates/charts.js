"use strict";
(() => {
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const symbols = ["circle", "square", "diamond", "triangle-up", "pentagon", "star"];
  const config = { displayModeBar: false };
  let drawnAt = 0;
  // Improvements beyond these are held at the edge, where their marks become arrows.
  const LOWEST = -1;
  const HIGHEST = 2;

  // Plotly reads a little HTML in its texts; names and observations must stay text.
  const plain = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>");
  const symbol = (agent) => symbols[agent % symbols.length];
  const sans = getComputedStyle(document.body).fontFamily;
  const probe = document.getElementById("chart-data");
  // A custom property is not resolved until something is painted with it.
  function colour(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }
  const agentColour = (agent) => colour(`agent-${agent % 6}`);
  // Print has no width to ask for: A4 and Letter, less their margins, hold this much.
  const PRINTED = 660;
  const printing = () => document.documentElement.classList.contains("printing");
  const width = (element) => {
    if (!printing()) return element.clientWidth;
    return element.closest(".multiples") ? PRINTED / 2 - 20 : PRINTED;
  };

  function layout(extra) {
    const axis = {
      fixedrange: true, gridcolor: colour("rule"), linecolor: colour("rule"),
      zeroline: false, ticks: "", automargin: true,
    };
    return {
      font: { family: sans, size: 12, color: colour("muted") },
      paper_bgcolor: "transparent", plot_bgcolor: "transparent", showlegend: false,
      dragmode: false, hovermode: "closest",
      hoverlabel: {
        bgcolor: colour("panel"), bordercolor: colour("rule"), align: "left",
        font: { family: sans, size: 12, color: colour("ink") },
      },
      margin: { l: 8, r: 16, t: 8, b: 32 }, ...extra,
      xaxis: { ...axis, ...extra.xaxis }, yaxis: { ...axis, ...extra.yaxis },
    };
  }

  const held = (value, [low, high]) => Math.min(Math.max(value, low), high);

  function improvementRange() {
    const values = data.bars.flatMap((bar) => [bar.mean, ...bar.points.map((p) => p.value)]);
    const low = Math.max(LOWEST, Math.min(-0.05, ...values));
    const high = Math.min(HIGHEST, Math.max(2 * data.success_bar, ...values));
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  }

  function improvementTraces(range) {
    const share = 0.74 / data.agents.length;
    const place = (bar) => bar.task + share * (bar.agent - (data.agents.length - 1) / 2);
    return data.agents.flatMap((_, agent) => {
      const bars = data.bars.filter((bar) => bar.agent === agent);
      const points = bars.flatMap((bar) => bar.points.map((p) => ({ ...p, y: place(bar) })));
      const inside = (p) => p.value === held(p.value, range);
      return [{
        type: "bar", orientation: "h", x: bars.map((bar) => bar.mean), y: bars.map(place),
        width: share * 0.86, hoverinfo: "text", hovertext: bars.map((bar) => plain(bar.text)),
        textposition: "none", marker: { color: agentColour(agent), opacity: 0.4 },
      }, {
        type: "scatter", mode: "markers", x: points.map((p) => held(p.value, range)),
        y: points.map((p) => p.y), hoverinfo: "text", hovertext: points.map((p) => plain(p.text)),
        cliponaxis: false,
        marker: {
          size: 8, color: agentColour(agent), line: { width: 1, color: colour("panel") },
          symbol: points.map((p) => {
            if (!p.valid) return "x-thin-open";
            if (inside(p)) return symbol(agent);
            return p.value < 0 ? "triangle-left" : "triangle-right";
          }),
        },
      }];
    });
  }

  function drawImprovement(element) {
    const range = improvementRange();
    const names = width(element) < 520 ? data.tasks.map((t) => t.split("@")[0]) : data.tasks;
    const row = Math.max(34, 18 * data.agents.length + 14);
    const line = (x, style) => ({
      type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: style,
    });
    Plotly.react(element, improvementTraces(range), layout({
      width: width(element), height: 72 + row * data.tasks.length, barmode: "overlay",
      margin: { l: 8, r: 16, t: 24, b: 32 },
      xaxis: { range, tickformat: "+.0%", side: "bottom" },
      yaxis: {
        range: [data.tasks.length - 0.5, -0.5], showgrid: false, tickcolor: "transparent",
        ticks: "outside", ticklen: 6,
        tickvals: data.tasks.map((_, i) => i), ticktext: names.map(plain),
        tickfont: { color: colour("ink") },
      },
      shapes: [
        line(0, { width: 1, color: colour("muted") }),
        line(data.success_bar, { width: 1.5, color: colour("accent"), dash: "dash" }),
      ],
      annotations: [{
        x: data.success_bar, xanchor: "left", yref: "paper", y: 1, yanchor: "bottom",
        text: "success", showarrow: false, font: { color: colour("accent"), size: 11 },
      }],
    }), config);
  }

  function curveTraces(task) {
    const inside = (value) => value === held(value, task.span);
    return task.curves.flatMap((curve) => [{
      type: "scatter", mode: "lines", x: curve.steps, y: curve.best, hoverinfo: "skip",
      line: { shape: "hv", width: 2, color: agentColour(curve.agent) },
    }, {
      type: "scatter", mode: "markers", x: curve.steps,
      y: curve.values.map((value) => held(value, task.span)), cliponaxis: false,
      hoverinfo: "text", hovertext: curve.texts.map(plain),
      marker: {
        size: 6, opacity: 0.75, color: agentColour(curve.agent),
        symbol: curve.values.map((value) => {
          if (inside(value)) return symbol(curve.agent);
          return value < task.span[0] ? "triangle-down-open" : "triangle-up-open";
        }),
      },
    }, {
      type: "scatter", mode: "lines+markers", x: curve.held_out_steps,
      y: curve.held_out.map((value) => held(value, task.span)), hoverinfo: "y",
      line: { shape: "hv", width: 1, dash: "dot", color: agentColour(curve.agent) },
      marker: { size: 5, symbol: "diamond-open", color: agentColour(curve.agent) },
    }]);
  }

  function drawValidation(element) {
    const task = data.validation[element.dataset.validation];
    const lines = [
      [task.starter, "starter", "muted"], [task.bar, "success", "accent"],
    ].filter(([value]) => value !== null);
    const steps = Math.max(...task.curves.flatMap((curve) => curve.steps));
    Plotly.react(element, curveTraces(task), layout({
      width: width(element), height: 220, margin: { l: 8, r: 56, t: 8, b: 32 },
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
    }), config);
  }

  function drawAll() {
    drawnAt = innerWidth;
    document.querySelectorAll("#improvement").forEach(drawImprovement);
    document.querySelectorAll("[data-validation]").forEach(drawValidation);
  }

  function print(begins) {
    document.documentElement.classList.toggle("printing", begins);
    drawAll();
  }

  document.addEventListener("themechange", drawAll);
  // Phones resize in height with every scroll.
  addEventListener("resize", () => { if (innerWidth !== drawnAt) drawAll(); });
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
