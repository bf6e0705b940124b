"use strict";

/** The number that a cell begins with; null if it has none. */
function numberOf(cell) {
  const found = cell.textContent.replaceAll(",", "").match(/^\s*[-+−]?\d+(\.\d+)?(e[-+]?\d+)?/i);
  return found ? Number(found[0].replace("−", "-")) : null;
}

/** Compare two cells: numbers as numbers, others as text, empty ones last. */
function compareCells(a, b, sign) {
  const [first, second] = [numberOf(a), numberOf(b)];
  if (first !== null && second !== null) return sign * (first - second);
  if (first !== null || second !== null) return first === null ? 1 : -1;
  return sign * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
}

/** Let the headings of a table sort its rows, within each of its bodies. */
function makeSortable(table, words) {
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const name = heading.textContent;
    const button = element("button", { type: "button", class: "sort", title: fill(words.sort_by, { name }) }, name);
    heading.replaceChildren(button);
    heading.dataset.name = name; // on paper
    button.addEventListener("click", () => {
      const isNumber = numberOf(table.tBodies[0].rows[0].cells[column]) !== null;
      const first = isNumber ? "descending" : "ascending";
      const other = isNumber ? "ascending" : "descending";
      const direction = heading.getAttribute("aria-sort") === first ? other : first;
      table.querySelectorAll("thead th").forEach((each) => each.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      for (const body of table.tBodies) {
        const rows = [...body.rows];
        rows.sort((a, b) => compareCells(a.cells[column], b.cells[column], sign));
        body.append(...rows);
      }
    });
  });
}

/** Shade the cells of each column by their place between its least and its greatest number. */
function shade(table, on) {
  for (const body of table.tBodies) {
    for (let column = 0; column < body.rows[0].cells.length; column++) {
      const cells = [...body.rows].map((row) => row.cells[column]).filter((cell) => cell.tagName === "TD");
      const numbers = cells.map(numberOf);
      const known = numbers.filter((number) => number !== null);
      const [least, most] = [Math.min(...known), Math.max(...known)];
      cells.forEach((cell, row) => {
        const share = most > least && numbers[row] !== null ? (numbers[row] - least) / (most - least) : 0;
        cell.style.backgroundColor = on ? `rgb(var(--shade) / ${(0.4 * share).toFixed(3)})` : "";
      });
    }
  }
}

/** Let a table be sorted, and give it the tools that stand before it: shading, and copying as one of some texts. */
function showTable(place, copies, words) {
  const table = place.querySelector("table");
  makeSortable(table, words);
  const tools = place.querySelector(".tools");
  if (!tools) return;
  tools.hidden = false;
  tools.querySelector("input").addEventListener("change", (event) => shade(table, event.target.checked));
  tools.querySelectorAll("button").forEach((button) => {
    button.addEventListener("click", async () => {
      await copyText(copies[button.dataset.form]);
      tools.querySelector("[role=status]").textContent = words.copied;
    });
  });
}
