"use strict";
(() => {
  const root = document.documentElement;
  const systemDark = matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
  }

  function prepareTheme() {
    const button = document.querySelector("button.theme");
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
      document.dispatchEvent(new Event("themechange"));
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    systemDark.addEventListener("change", show);
    show();
  }

  // Empty values stay last in both orders: a run without a score is never the best.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    const numbers = !Number.isNaN(x) && !Number.isNaN(y);
    return sign * (numbers ? x - y : a.localeCompare(b));
  }

  function sortBy(table, column, header) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(value(a), value(b), descending ? -1 : 1));
    table.tBodies[0].append(...rows);
  }

  function prepareSorting(table) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = header.querySelector("button");
      button.addEventListener("click", () => sortBy(table, column, header));
    });
  }

  function openLinkedFold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  }

  root.classList.add("js");
  document.querySelectorAll(".sorthint, .legend").forEach((hint) => { hint.hidden = false; });
  document.querySelectorAll("table.sortable").forEach(prepareSorting);
  addEventListener("hashchange", openLinkedFold);
  openLinkedFold();
  prepareTheme();
})();
