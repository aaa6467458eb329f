"use strict";
// When charts are drawn: once they come near the window, and again when it changes.
(() => {
  const charts = [...document.querySelectorAll("[data-chart]")];
  const near = new Set();
  let drawnAt = innerWidth;

  const draw = (element) => report.drawings[element.dataset.chart](element);
  const visible = (element) => element.clientWidth > 0;

  const watcher = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting && !near.has(entry.target)).forEach((entry) => {
      near.add(entry.target);
      draw(entry.target);
    });
  }, { rootMargin: "600px" });

  report.redraw = () => {
    drawnAt = innerWidth;
    [...near].filter(visible).forEach(draw);
  };

  function print(begins) {
    document.documentElement.classList.toggle("printing", begins);
    charts.filter(visible).forEach((chart) => near.add(chart));
    report.redraw();
  }

  charts.forEach((chart) => watcher.observe(chart));
  document.addEventListener("themechange", report.redraw);
  document.addEventListener("filterchange", report.redraw);
  // Phones resize in height with every scroll.
  addEventListener("resize", () => { if (innerWidth !== drawnAt) report.redraw(); });
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
