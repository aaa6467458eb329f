"use strict";
// Stacked bars: outcomes of runs and seconds of a mean run, one bar an agent.
(() => {
  const { data, plain, colour, layout } = report;
  // Neighbours differ in pattern too, so that nothing hangs on colour alone.
  const patterns = ["", "/", "", "x", "", "\\", "", ".", "-"];
  const KINDS = ["model", "execution", "harness", "other"];

  function seconds(value) {
    if (value < 60) return `${value.toFixed(1)} s`;
    return value < 3600 ? `${(value / 60).toFixed(1)} min` : `${(value / 3600).toFixed(1)} h`;
  }

  function stacked(element, shares, names, look) {
    const rows = shares.filter((share) => report.shows(data.agents[share.agent]));
    const labels = rows.map((share) => data.agents[share.agent].who);
    const most = report.width(element) < 520 ? 16 : 44;
    Plotly.react(element, names.map((name, part) => {
      const values = rows.map((share) => look.scaled(share, part));
      return {
        type: "bar", orientation: "h", x: values, y: rows.map((_, i) => i), width: 0.72,
        hoverinfo: "text",
        hovertext: rows.map((share, i) => plain(`${labels[i]}\n${name}: ${look.written(share, part)}`)),
        text: rows.map((share, i) => (look.labelled(values[i], rows) ? look.label(share, part) : "")),
        textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "none",
        textfont: { size: 11, color: colour(`${look.colours}-${part}-ink`) },
        marker: {
          color: colour(`${look.colours}-${part}`),
          line: { width: 1, color: colour("panel") },
          pattern: {
            shape: patterns[part], size: 7, solidity: 0.16, fillmode: "overlay",
            fgcolor: colour(`${look.colours}-${part}-ink`), fgopacity: 0.28,
          },
        },
      };
    }), layout({
      width: report.width(element), height: 56 + 34 * rows.length, barmode: "stack",
      margin: { l: 8, r: 16, t: 8, b: 36 }, xaxis: look.axis,
      yaxis: {
        range: [rows.length - 0.5, -0.5], showgrid: false, tickvals: rows.map((_, i) => i),
        ticktext: labels.map((label) => plain(report.short(label, most))), ticks: "outside",
        ticklen: 6, tickcolor: "transparent", tickfont: { color: colour("ink") },
      },
    }), report.config);
  }

  const all = (share) => share.parts.reduce((sum, value) => sum + value, 0) || 1;

  report.drawings.outcomes = (element) => {
    stacked(element, data.editions[element.dataset.edition].outcomes, data.outcome_names, {
      colours: "outcome", axis: { tickformat: ".0%", range: [0, 1] },
      scaled: (share, part) => share.parts[part] / all(share),
      written: (share, part) => `${share.parts[part]} of ${all(share)} runs`,
      label: (share, part) => `${share.parts[part]}`,
      labelled: (value) => value * report.width(element) > 36,
    });
  };

  report.drawings.time = (element) => {
    const shares = data.editions[element.dataset.edition].seconds;
    const longest = Math.max(1, ...shares.map(all));
    stacked(element, shares, KINDS, {
      colours: "time",
      axis: { title: { text: longest > 300 ? "minutes" : "seconds", standoff: 4, font: { size: 12 } }, rangemode: "tozero" },
      scaled: (share, part) => share.parts[part] / (longest > 300 ? 60 : 1),
      written: (share, part) => seconds(share.parts[part]),
      label: (share, part) => KINDS[part],
      labelled: (value) => value / (longest / (longest > 300 ? 60 : 1)) * report.width(element) > 130,
    });
  };
})();
