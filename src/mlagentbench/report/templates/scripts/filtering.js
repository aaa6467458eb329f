"use strict";
(() => {
  const form = document.querySelector("form.filters");
  if (!form) return;
  const root = document.documentElement;
  const kinds = [...form.querySelectorAll(".choice")];
  const marked = document.querySelectorAll("main [data-task], main [data-agent], main [data-model]");
  const notes = document.querySelectorAll(".unfiltered");
  const runs = document.querySelectorAll("table.runs tbody tr");
  // By kind: the names that are chosen; a kind with all of its names is absent.
  let chosen = {};

  function read() {
    chosen = {};
    kinds.forEach((choice) => {
      const boxes = [...choice.querySelectorAll("input")];
      const ticked = boxes.filter((box) => box.checked).map((box) => box.value);
      const all = ticked.length === boxes.length;
      if (!all) chosen[choice.dataset.kind] = new Set(ticked);
      choice.querySelector(".choice-count").textContent =
        all ? `all ${boxes.length}` : `${ticked.length} of ${boxes.length}`;
    });
  }

  report.shows = (named) => Object.entries(chosen).every(
    ([kind, names]) => named[kind] === undefined || names.has(named[kind]),
  );

  function apply() {
    read();
    const any = Object.keys(chosen).length > 0;
    marked.forEach((element) => {
      element.classList.toggle("filtered-out", !report.shows(element.dataset));
    });
    notes.forEach((note) => { note.hidden = !chosen.task; });
    root.classList.toggle("filtered", any);
    root.classList.toggle("tasks-filtered", "task" in chosen);
    form.querySelector(".reset").hidden = !any;
    const left = [...runs].filter((row) => !row.classList.contains("filtered-out")).length;
    form.querySelector(".filters-said").textContent =
      any ? `filtered: ${left} of ${runs.length} runs` : `all ${runs.length} runs`;
    document.dispatchEvent(new Event("filterchange"));
  }

  function tick(within, checked) {
    within.querySelectorAll("input").forEach((box) => { box.checked = checked; });
    apply();
  }

  function closeOthers(kept) {
    kinds.filter((choice) => choice !== kept).forEach((choice) => { choice.open = false; });
  }

  kinds.forEach((choice) => {
    choice.querySelector(".every").addEventListener("click", () => tick(choice, true));
    choice.querySelector(".clear").addEventListener("click", () => tick(choice, false));
    choice.addEventListener("toggle", () => { if (choice.open) closeOthers(choice); });
    choice.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      choice.open = false;
      choice.querySelector("summary").focus();
    });
  });
  form.querySelector(".reset").addEventListener("click", () => tick(form, true));
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    closeOthers(event.target.closest(".choice"));
  });
  // A reload may keep what was ticked.
  form.hidden = false;
  apply();
})();
