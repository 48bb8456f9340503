"use strict";
// Sort a table by a column when its name is clicked; a second click reverses the order.
function sortBy(button) {
  const head = button.closest("th");
  const table = head.closest("table");
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].filter((row) => !row.classList.contains("total"));
  const totals = [...body.rows].filter((row) => row.classList.contains("total"));
  const key = (row) => {
    const cell = row.cells[head.cellIndex];
    return (cell.dataset.sort ?? cell.textContent).trim();
  };
  const isNumber = head.classList.contains("number");
  const decorated = rows.map((row) => [key(row), row]);
  decorated.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === ""); // empty cells come last
    const order = isNumber ? a - b : a.localeCompare(b, "en", { numeric: true });
    return ascending ? order : -order;
  });
  body.append(...decorated.map(([, row]) => row), ...totals);
}

// Filter: show the rows that contain all words of the search box.
function filterBy(box) {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = box.closest("figure").querySelectorAll("tbody tr:not(.total)");
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) shown += 1;
    if (row.dataset.fold) document.getElementById(row.dataset.fold).hidden = row.hidden;
  }
  if (box.id === "fold-filter") {
    document.getElementById("fold-count").textContent = `${shown} of ${rows.length} ${rows.length === 1 ? "fold" : "folds"}`;
  }
}

// A link to a fold opens its section.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") {
    target.hidden = false;
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView({ behavior: "instant" });
  }
}

// Mark regions that can be scrolled to the right.
const widths = new ResizeObserver((entries) => requestAnimationFrame(() => {
  for (const { target } of entries) {
    target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
  }
}));

for (const place of document.querySelectorAll(".scroll")) widths.observe(place);
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortBy(button));
}
for (const box of document.querySelectorAll("input.filter")) {
  box.addEventListener("input", () => filterBy(box));
}
addEventListener("hashchange", openTarget);
openTarget();
