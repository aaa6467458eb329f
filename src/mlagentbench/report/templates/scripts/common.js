"use strict";
// What the other scripts share: the data, colours that follow the theme, one layout.
const report = (() => {
  const probe = document.getElementById("chart-data");
  const data = JSON.parse(probe.textContent);
  const sans = getComputedStyle(document.body).fontFamily;
  const symbols = [
    "circle", "square", "diamond", "triangle-up", "pentagon", "star", "hexagram", "cross",
  ];
  // Print has no width to ask for: A4 and Letter, less their margins, hold this much.
  const PRINTED = 660;

  // Plotly reads a little HTML in its texts; names and observations must stay text.
  const plain = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>");

  // A custom property is not resolved until something is painted with it.
  function colour(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }

  // Long names would take the whole width of a phone; most differ at their end.
  function short(text, most) {
    if (text.length <= most) return text;
    const end = Math.ceil(0.6 * most);
    return `${text.slice(0, most - end - 1)}\u2026${text.slice(-end)}`;
  }

  function width(element) {
    if (!document.documentElement.classList.contains("printing")) return element.clientWidth;
    return element.closest(".multiples, .pair") ? PRINTED / 2 - 20 : PRINTED;
  }

  function layout(extra) {
    // By default Plotly hides a label that sticks out instead of widening the margin.
    const axis = {
      ticklabeloverflow: "allow",
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

  return {
    data, plain, colour, width, layout,
    symbol: (agent) => symbols[agent % symbols.length],
    agentColour: (agent) => colour(`agent-${agent % symbols.length}`),
    held: (value, [low, high]) => Math.min(Math.max(value, low), high),
    short,
    dashes: {
      starter: "dot", "tuning baseline": "longdash", "success threshold": "dash", reference: "dashdot",
    },
    config: { displayModeBar: false },
    // By kind of chart: the function that draws it into an element.
    drawings: {},
    // Replaced by the filter; without one everything is shown.
    shows: () => true,
  };
})();
