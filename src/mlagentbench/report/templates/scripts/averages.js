"use strict";
// Charts of averages over tasks: against tokens and cost, and by budget.
(() => {
  const { data, plain, colour, layout } = report;
  const shown = (place) => report.shows(data.agents[place]);
  const percentAxis = { tickformat: ".0%", rangemode: "tozero" };

  const whiskers = (values, lows, highs, painted) => ({
    type: "data", symmetric: false, thickness: 1.5, width: 4, color: painted,
    array: highs.map((high, i) => (high === null ? 0 : high - values[i])),
    arrayminus: lows.map((low, i) => (low === null ? 0 : values[i] - low)),
  });

  function frontTraces(points) {
    const front = points.filter((point) => point.on_front);
    const line = {
      type: "scatter", mode: "lines", hoverinfo: "skip", x: front.map((p) => p.spent),
      y: front.map((p) => p.rate),
      line: { shape: "hv", width: 2, dash: "dot", color: colour("muted") },
    };
    return [line, ...points.map((point) => {
      const painted = report.agentColour(point.place);
      return {
        type: "scatter", mode: "markers", x: [point.spent], y: [point.rate],
        hoverinfo: "text", hovertext: [plain(point.text)], cliponaxis: false,
        error_y: whiskers([point.rate], [point.low], [point.high], painted),
        marker: {
          size: point.on_front ? 14 : 10, color: painted, symbol: report.symbol(point.place),
          line: { width: point.on_front ? 2.5 : 0, color: colour("ink") },
        },
      };
    })];
  }

  report.drawings.front = (element) => {
    const front = data.editions[element.dataset.edition].fronts[element.dataset.place];
    const points = front.points.filter((point) => shown(point.place));
    const spent = points.map((point) => point.spent);
    const wide = Math.min(...spent) > 0 && Math.max(...spent) > 20 * Math.min(...spent);
    Plotly.react(element, frontTraces(points), layout({
      width: report.width(element), height: 300, margin: { l: 8, r: 20, t: 16, b: 40 },
      xaxis: {
        title: { text: front.unit === "cost" ? "dollars per run" : "tokens per run", standoff: 6, font: { size: 12 } },
        type: wide ? "log" : "linear", nticks: 6, tickangle: 0,
        ...(wide ? {} : { range: [-0.04 * Math.max(...spent), 1.1 * Math.max(...spent)] }),
        tickprefix: front.unit === "cost" ? "$" : "", exponentformat: "SI",
      },
      yaxis: { title: { text: "success rate", standoff: 6, font: { size: 12 } }, ...percentAxis },
    }), report.config);
  };

  const COST = { steps: "steps", seconds: "minutes", tokens: "tokens", dollars: "dollars" };
  const sized = (unit, spent) => (unit === "seconds" ? spent / 60 : spent);

  // One run: a step line that ends in the mean of complete runs, with its interval.
  function withinTraces(costs, unit, say, painted) {
    const points = costs.within[unit] || [];
    const x = points.map((point) => sized(unit, point.spent));
    const y = points.map((point) => point.score.value);
    const { low, high } = costs.interval;
    const line = {
      type: "scatter", mode: "lines", x, y, hoverinfo: "text",
      hovertext: y.map((score, i) => say(score, "after", x[i])),
      line: { shape: "hv", width: 2, color: painted },
    };
    const end = {
      type: "scatter", mode: "markers", x: x.slice(-1), y: y.slice(-1), cliponaxis: false,
      hoverinfo: "text", hovertext: y.slice(-1).map((score) => say(score, "at the end,", x.at(-1))),
      error_y: whiskers(y.slice(-1), [low], [high], painted),
      marker: { size: 8, color: painted, symbol: report.symbol(costs.column.place) },
    };
    return costs.ungraded ? [line] : [line, end];
  }

  function bestTraces(costs, unit, say, painted) {
    const best = costs.best_of.filter((one) => one.spent[unit] > 0);
    const x = best.map((one) => sized(unit, one.spent[unit]));
    const y = best.map((one) => one.score);
    const { low, high } = costs.interval;
    return [{
      type: "scatter", mode: "lines+markers+text", x, y, cliponaxis: false,
      text: best.map((one, i) => (i ? one.runs : "")), textposition: "top center",
      textfont: { size: 11, color: painted }, hoverinfo: "text",
      hovertext: best.map((one, i) => say(one.score, `best of ${one.runs},`, x[i])),
      error_y: whiskers(y, y.map((_, i) => (i ? null : low)), y.map((_, i) => (i ? null : high)), painted),
      line: { width: 1.5, dash: "dot", color: painted },
      marker: { size: 7, color: painted, symbol: report.symbol(costs.column.place) },
    }];
  }

  report.drawings.cost = (element) => {
    const edition = data.editions[element.dataset.edition];
    const unit = element.dataset.unit;
    const traces = edition.costs.filter((costs) => shown(costs.column.place)).flatMap((costs) => {
      const say = (score, text, spent) => plain(
        `${costs.column.who}\n${text} ${spent.toPrecision(3)} ${COST[unit]}: ${score.toFixed(2)}`);
      const make = element.dataset.part === "within" ? withinTraces : bestTraces;
      return make(costs, unit, say, report.agentColour(costs.column.place));
    });
    const ends = traces.filter((trace) => trace.x.length && Math.max(...trace.x) > 0)
      .map((trace) => Math.max(...trace.x));
    const wide = Math.max(...ends) > 30 * Math.min(...ends);
    Plotly.react(element, traces, layout({
      width: report.width(element), height: 270, margin: { l: 8, r: 64, t: 16, b: 40 },
      xaxis: {
        title: { text: COST[unit], standoff: 6, font: { size: 12 } }, type: wide ? "log" : "linear",
        nticks: 6, tickangle: 0, tickprefix: unit === "dollars" ? "$" : "", exponentformat: "SI",
        ...(wide ? {} : { rangemode: "tozero" }),
      },
      yaxis: {
        title: { text: "normalised score", standoff: 6, font: { size: 12 } }, rangemode: "tozero", nticks: 6,
        showgrid: false,
      },
      shapes: edition.cost_lines.map((line) => ({
        type: "line", xref: "paper", x0: 0, x1: 1, y0: line.value, y1: line.value, layer: "below",
        line: { width: 1.5, dash: report.dashes[line.name], color: colour("muted") },
      })),
      annotations: edition.cost_lines.map((line) => ({
        xref: "paper", x: 1, xanchor: "left", xshift: 4, y: line.value, yanchor: "middle", showarrow: false,
        text: line.name.split(" ")[0], font: { size: 11, color: colour("muted") },
      })),
    }), report.config);
  };

  report.drawings.budget = (element) => {
    const curves = data.editions[element.dataset.edition].budgets
      .filter((curve) => shown(curve.column.place));
    const measure = element.dataset.measure;
    // Whiskers of several agents at one budget would hide each other.
    const aside = (i) => 0.5 * (i - (curves.length - 1) / 2);
    const budgets = [...new Set(curves.flatMap((c) => c.points.map((p) => p.steps)))];
    Plotly.react(element, curves.map((curve, i) => {
      const found = curve.points.map((point) => point[measure]);
      const values = found.map((estimate) => estimate.value);
      const painted = report.agentColour(curve.column.place);
      return {
        type: "scatter", mode: "lines+markers", y: values, hoverinfo: "text", cliponaxis: false,
        x: curve.points.map((point) => point.steps + aside(i)),
        hovertext: curve.points.map((point, j) => plain(
          `${curve.column.who}\n${point.steps} steps: ${(100 * values[j]).toFixed(1)} %`)),
        error_y: whiskers(values, found.map((e) => e.low), found.map((e) => e.high), painted),
        line: { width: 2, color: painted },
        marker: { size: 9, color: painted, symbol: report.symbol(curve.column.place) },
      };
    }), layout({
      width: report.width(element), height: 280, margin: { l: 8, r: 16, t: 12, b: 40 },
      xaxis: {
        title: { text: "steps", standoff: 6, font: { size: 12 } }, tickvals: budgets, showgrid: false,
        range: [0, 1.06 * Math.max(10, ...budgets)],
      },
      yaxis: measure === "success" ? percentAxis : { tickformat: "+.0%", nticks: 6 },
    }), report.config);
  };
})();
