"use strict";
(() => {
  // Empty values stay last in both orders: a run without a score is never the best.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    const numbers = !Number.isNaN(x) && !Number.isNaN(y);
    return sign * (numbers ? x - y : a.localeCompare(b));
  }

  function value(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) return cell.dataset.value;
    const text = cell.textContent.trim();
    const number = /^[+-]?[\d,]*\.?\d+/.exec(text);
    return number ? number[0].replaceAll(",", "") : text;
  }

  function sortBy(table, header) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(
      value(a, header.cellIndex), value(b, header.cellIndex), descending ? -1 : 1,
    ));
    table.tBodies[0].append(...rows);
  }

  // A header without a button can be clicked by nobody who has no script.
  function addButtons(table) {
    table.classList.add("sortable");
    table.querySelectorAll("thead th").forEach((header) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
    });
  }

  // One row is always in order.
  const several = "tbody tr + tr";
  document.querySelectorAll(`main table:not(.sortable):has(thead th):has(${several})`).forEach(addButtons);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("table.sortable thead button");
    if (button) sortBy(button.closest("table"), button.closest("th"));
  });
  document.querySelectorAll(".sorthint, .legend").forEach((hint) => { hint.hidden = false; });
})();
