"use strict";

/** Make an element: its attributes, then its children (text or elements). */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Make an element of a drawing. */
function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const byId = (id) => document.getElementById(id);
const counted = (n, noun) => `${n.toLocaleString("en")} ${n === 1 ? noun : noun.replace(/y$/, "ie") + "s"}`;

/** Let a name be broken after its punctuation. */
function breakable(name) {
  return name.split(/(?<=[_.:/-])/).flatMap((part) => [part, element("wbr")]);
}

/** Unpack the data of the page: JSON, deflated, in base64. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

document.addEventListener("DOMContentLoaded", async () => {
  const { copies, queries } = await unpack(byId("data").textContent);
  document.querySelectorAll(".run").forEach((cell) => cell.replaceChildren(...breakable(cell.textContent)));
  document.querySelectorAll(".sortable table").forEach(makeSortable);
  document.querySelectorAll(".tools").forEach((tools) => makeCopied(tools, copies));
  if (queries) showQueries(queries);
  document.documentElement.dataset.ready = "";
});

// --- tables ---------------------------------------------------------------------------------------

/** The value that a cell is printed from; null if it has none. */
function valueOf(cell) {
  return cell.dataset.value === undefined || cell.dataset.value === "NaN" ? null : Number(cell.dataset.value);
}

const hasValue = (row) => [...row.cells].some((cell) => valueOf(cell) !== null);

/** Compare two cells: by value, others as text, those without a value last. */
function compareCells(a, b, sign) {
  const [first, second] = [valueOf(a), valueOf(b)];
  if (first !== null && second !== null) return sign * (first - second);
  if (first !== null || second !== null) return first === null ? 1 : -1;
  return sign * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
}

/** Let the headings of a table sort its rows, within each of its bodies. */
function makeSortable(table) {
  const headings = [...table.querySelectorAll("thead th")];
  headings.forEach((heading, column) => {
    const button = element("button", { type: "button", class: "sort" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
      const first = rows.every((row) => valueOf(row.cells[column]) === null) ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = heading.getAttribute("aria-sort") === first ? other : first;
      headings.forEach((each) => each.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      for (const body of table.tBodies) {
        // A row without any value, such as that of an ideal ranking, stays below those that have some.
        const order = (a, b) => hasValue(b) - hasValue(a) || compareCells(a.cells[column], b.cells[column], sign);
        body.append(...[...body.rows].sort(order));
      }
    });
  });
}

/** Let the buttons before a table copy it, its rows in the order in which they are shown. */
function makeCopied(tools, copies) {
  const table = tools.parentElement.querySelector("table");
  const bodies = () => [...table.tBodies].map((body) => [...body.rows]);
  const places = new Map(bodies().flat().map((row, place) => [row, place]));
  tools.hidden = false;
  tools.querySelectorAll("button").forEach((button) =>
    button.addEventListener("click", async () => {
      const { lines, rows } = copies[button.dataset.table][button.dataset.form];
      const copied = [...lines];
      for (const shown of bodies()) {
        const numbers = shown.map((row) => rows[places.get(row)]);
        const slots = [...numbers].sort((a, b) => a - b);
        slots.forEach((slot, at) => (copied[slot] = lines[numbers[at]]));
      }
      await copyText(copied.join("\n"));
      tools.querySelector("[role=status]").textContent = "Copied";
    }),
  );
}

/** Copy a text, also where the browser does not let pages of files write to the clipboard. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// --- queries --------------------------------------------------------------------------------------

const AT_FIRST = 25;
const MORE = 100;
/** A run more than these, and the table has the two that are compared alone. */
const MOST_RUNS = 10;
/** A field with more labels is searched, and not chosen from. */
const MOST_LABELS = 60;
/** Differences up to 1e-12 are ties; values have twelve decimals. */
const ROUNDING = 1.5e-12;
const NAMES = new Intl.Collator(undefined, { numeric: true });

const outcomeOf = (delta) => (delta > 0 ? "win" : delta < 0 ? "loss" : "tie");

/** The queries and what is chosen of them. */
class Queries {
  constructor(data) {
    Object.assign(this, data);
    const means = this.values.map(([values]) => values.reduce((sum, value) => sum + value, 0));
    const others = [...means.keys()].filter((run) => run !== this.baseline);
    this.run = others.reduce((best, run) => (means[run] > means[best] ? run : best), others[0]);
    this.measure = 0;
    this.sort = { key: "delta", ascending: false };
    this.searched = this.ids.map((id, query) => `${id} ${this.texts?.[query] ?? ""}`.toLowerCase());
    this.clear();
  }

  clear() {
    Object.assign(this, { search: "", outcome: "", point: null, labels: {}, shown: AT_FIRST });
  }

  value(run, query, measure = this.measure) {
    return this.values[run][measure][query];
  }

  delta(query, measure = this.measure, run = this.run, baseline = this.baseline) {
    const difference = this.value(run, query, measure) - this.value(baseline, query, measure);
    return Math.abs(difference) <= ROUNDING ? 0 : difference;
  }

  format(value) {
    return value.toFixed(this.digits);
  }

  /** Find the rank-biased overlap of two runs: its mean, and that of each query; nothing if it is not known. */
  overlap(run = this.run, baseline = this.baseline) {
    const of = (a, b) => this.overlaps.find(([first, second]) => first === a && second === b);
    const found = of(run, baseline) ?? of(baseline, run);
    return found && { mean: found[2], values: found[3] };
  }

  signed(value) {
    const text = Math.abs(value).toFixed(this.digits);
    return `${Number(text) === 0 ? (value ? "±" : "") : value > 0 ? "+" : "−"}${text}`;
  }

  key(query) {
    return `${this.value(this.baseline, query)} ${this.value(this.run, query)}`;
  }

  /** Find the queries that fit all filters, in their order; count wins, ties and losses among the others' fits. */
  choose() {
    const terms = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    const labels = Object.entries(this.labels);
    this.plotted = [...Array(this.n).keys()].filter(
      (query) =>
        terms.every((term) => this.searched[query].includes(term)) &&
        labels.every(([field, label]) => this.fields[field][query] === label),
    );
    const near = this.point ? this.plotted.filter((query) => this.key(query) === this.point) : this.plotted;
    this.counts = { "": near.length, win: 0, tie: 0, loss: 0 };
    for (const query of near) this.counts[outcomeOf(this.delta(query))]++;
    this.found = near.filter((query) => !this.outcome || outcomeOf(this.delta(query)) === this.outcome);
    const { order } = this.columns().find(({ key }) => key === this.sort.key) ?? this.columns()[1];
    const sign = this.sort.ascending ? 1 : -1;
    this.found.sort((a, b) => sign * order(a, b) || a - b);
  }

  /** List the columns: the query, the difference, the two runs, the other runs, the fields. */
  columns() {
    const runs = [this.run, this.baseline];
    if (this.runs.length <= MOST_RUNS) runs.push(...[...this.runs.keys()].filter((run) => !runs.includes(run)));
    return [
      { key: "query", name: "query", order: (a, b) => NAMES.compare(this.ids[a], this.ids[b]) },
      { key: "delta", name: "Δ", order: (a, b) => this.delta(a) - this.delta(b), text: (query) => this.signed(this.delta(query)) },
      ...runs.map((run) => ({
        key: `run ${run}`,
        name: this.runs[run],
        order: (a, b) => this.value(run, a) - this.value(run, b),
        text: (query) => this.format(this.value(run, query)),
      })),
      ...overlapColumn(this.overlap()),
      ...Object.entries(this.fields).map(([name, labels]) => ({
        key: `field ${name}`,
        name,
        isText: true,
        order: (a, b) => NAMES.compare(labels[a], labels[b]),
        text: (query) => labels[query],
      })),
    ];
  }
}

/** Make the column of the overlap, if it is known; a query of which neither run has a document is last. */
function overlapColumn(overlap) {
  if (!overlap) return [];
  const { values } = overlap;
  return [{ key: "overlap", name: "RBO", order: (a, b) => (values[a] ?? -1) - (values[b] ?? -1), text: (query) => overlapText(values[query]) }];
}

const overlapText = (value) => value?.toFixed(4) ?? "–";

/** Say how much the two runs agree; why that is not known stands with the rankings. */
function showOverlap(list) {
  const [overlap, runs] = [list.overlap(), `${list.runs[list.run]} and ${list.runs[list.baseline]}`];
  const text = `Rank-biased overlap (RBO) of ${runs}: ${overlapText(overlap?.mean)} on average (p = ${list.persistence}).`;
  byId("query-overlap").textContent = overlap ? text : "";
}

/** Show all queries: what is compared, filters, a scatter, a table; a query opens with its rankings. */
function showQueries(data) {
  const list = new Queries(data);
  const open = queryDetails(list);
  const update = () => {
    list.choose();
    for (const button of document.querySelectorAll("[data-outcome]")) {
      const { outcome } = button.dataset;
      button.setAttribute("aria-pressed", list.outcome === outcome);
      const name = { "": "All", win: "Wins", tie: "Ties", loss: "Losses" }[outcome];
      button.textContent = `${name} ${list.counts[outcome].toLocaleString("en")}`;
    }
    byId("query-clear").hidden = !(list.search || list.outcome || list.point || Object.keys(list.labels).length);
    showTable(list, update, open);
    showOverlap(list);
    showScatter(list, update);
  };
  makeTools(list, update);
  update();
  const follow = () => {
    const query = location.hash.startsWith("#q=") ? list.ids.indexOf(decodeURIComponent(location.hash.slice(3))) : -1;
    if (query >= 0 && query < list.n) open(query);
  };
  window.addEventListener("hashchange", follow);
  follow();
}

/** Fill the choices of runs, measure and fields, and let them and the filters change the list. */
function makeTools(list, update) {
  const select = (id, names) => {
    names.forEach((name, value) => byId(id).append(element("option", { value }, name)));
    return byId(id);
  };
  const chosen = { run: list.runs, baseline: list.runs, measure: list.measures };
  for (const [name, names] of Object.entries(chosen)) {
    const choice = select(`query-${name}`, names);
    choice.value = list[name];
    choice.addEventListener("change", () => {
      const before = list[name];
      Object.assign(list, { [name]: Number(choice.value), point: null });
      if (list.run === list.baseline) list[name === "run" ? "baseline" : "run"] = before; // they change places
      for (const each of ["run", "baseline"]) byId(`query-${each}`).value = list[each];
      update();
    });
  }
  const fields = Object.entries(list.fields).map(([field, labels]) => [field, [...new Set(labels)].sort(NAMES.compare)]);
  for (const [field, labels] of fields.filter(([, labels]) => labels.length <= MOST_LABELS)) {
    const choice = element("select", { "data-field": field }, element("option", { value: "" }, "all"));
    labels.forEach((label, number) => choice.append(element("option", { value: number + 1 }, label || "–")));
    choice.addEventListener("change", () => {
      delete list.labels[field];
      if (choice.value) list.labels[field] = labels[choice.value - 1];
      update();
    });
    document.querySelector(".query-search").before(element("label", {}, element("span", {}, field), choice));
  }
  byId("query-search").addEventListener("input", ({ target }) => {
    list.search = target.value;
    update();
  });
  for (const button of document.querySelectorAll("[data-outcome]")) {
    button.addEventListener("click", () => {
      list.outcome = button.dataset.outcome;
      if (list.sort.key === "delta" && list.outcome) list.sort.ascending = list.outcome === "loss"; // the largest first
      update();
    });
  }
  byId("query-clear").addEventListener("click", () => {
    list.clear();
    byId("query-search").value = "";
    document.querySelectorAll("[data-field]").forEach((choice) => (choice.value = ""));
    update();
  });
}

/** Show the found queries, the first of them at first. */
function showTable(list, update, open) {
  const columns = list.columns();
  const table = byId("query-table");
  const headings = columns.map(({ key, name, isText }) => {
    const isChosen = list.sort.key === key;
    const button = element("button", { type: "button", class: "sort" }, ...breakable(name));
    button.addEventListener("click", () => {
      list.sort = { key, ascending: isChosen ? !list.sort.ascending : key === "query" || Boolean(isText) };
      update();
      table.querySelector("[aria-sort] button").focus();
    });
    const direction = isChosen ? (list.sort.ascending ? "ascending" : "descending") : null;
    return element("th", { scope: "col", class: key === "query" ? "label run" : null, "aria-sort": direction }, button);
  });
  table.tHead.replaceChildren(element("tr", {}, ...headings));
  table.tBodies[0].replaceChildren(...list.found.slice(0, list.shown).map((query) => queryRow(list, columns, query, open)));
  const count = `${list.found.length.toLocaleString("en")} of ${counted(list.n, "query")}`;
  byId("query-count").textContent = list.found.length ? `${count}. A click on a query shows both rankings.` : "No query fits these filters.";
  const left = list.found.length - list.shown;
  const more = byId("query-more");
  more.hidden = left <= 0;
  more.textContent = `Show ${Math.min(left, MORE)} more`;
  more.onclick = () => {
    const first = list.shown;
    list.shown += MORE;
    update();
    table.tBodies[0].rows[first].querySelector("button").focus();
  };
}

/** Make the row of a query; its button opens it. */
function queryRow(list, columns, query, open) {
  const [id, text] = [list.ids[query], list.texts?.[query]];
  const button = element("button", { type: "button", class: "query-open" }, element("span", {}, text || id));
  if (text) button.append(element("small", {}, id));
  const cells = columns.slice(1).map(({ key, text }) =>
    element("td", { class: key === "delta" ? outcomeOf(list.delta(query)) : null }, text(query)),
  );
  const row = element("tr", { "data-query": id }, element("th", { scope: "row", class: "label run" }, button), ...cells);
  row.addEventListener("click", () => getSelection().isCollapsed && open(query));
  return row;
}

/** Plot the run against the baseline: a point for each pair of values, which picks its queries. */
function showScatter(list, update) {
  const points = Map.groupBy ? Map.groupBy(list.plotted, (query) => list.key(query)) : groupedBy(list);
  const both = [list.run, list.baseline].flatMap((run) => list.values[run][list.measure]);
  const [low, high] = both.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 1]);
  const [x, y] = [(value) => (300 * (value - low)) / (high - low), (value) => (300 * (high - value)) / (high - low)];
  const sorted = [...points].sort(([, a], [, b]) => b.length - a.length);
  const most = sorted[0]?.[1].length ?? 1;
  const circles = sorted.map(([key, queries]) => {
    const [query] = queries;
    const [first, second] = [list.value(list.baseline, query), list.value(list.run, query)];
    const about = `${counted(queries.length, "query")}: ${list.runs[list.baseline]} ${list.format(first)}, ${list.runs[list.run]} ${list.format(second)}`;
    const radius = Math.max(3, Math.sqrt(queries.length * Math.min(9, 225 / most)));
    const kind = `${outcomeOf(list.delta(query))}${key === list.point ? " picked" : ""}`;
    const circle = shape("circle", { cx: x(first), cy: y(second), r: radius, class: kind }, shape("title", {}, about));
    circle.addEventListener("click", () => {
      list.point = list.point === key ? null : key;
      list.outcome = "";
      update();
    });
    if (key === list.point) byId("query-point").textContent = about;
    return circle;
  });
  if (!list.point) byId("query-point").textContent = "";
  const tick = (value) => String(Number(value.toPrecision(2)));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low)).flatMap((value) => [
    shape("text", { x: x(value), y: 314 }, tick(value)),
    shape("text", { x: -18, y: y(value) + 4 }, tick(value)),
  ]);
  const svg = document.querySelector("#query-scatter svg");
  svg.setAttribute("viewBox", "-50 -24 366 366");
  svg.setAttribute("aria-label", `${list.measures[list.measure]} of ${list.runs[list.run]} against ${list.runs[list.baseline]}, query by query`);
  svg.replaceChildren(
    shape("line", { x1: 0, y1: 300, x2: 300, y2: 0 }),
    shape("line", { x1: 0, y1: 300, x2: 300, y2: 300 }),
    shape("line", { x1: 0, y1: 300, x2: 0, y2: 0 }),
    ...ticks,
    shape("text", { x: 150, y: 334 }, shortened(list.runs[list.baseline])),
    shape("text", { transform: "translate(-38 150) rotate(-90)" }, shortened(list.runs[list.run])),
    shape("text", { x: 150, y: -12 }, shortened(list.measures[list.measure])),
    ...circles,
  );
}

/** Group the queries by their two values, where the browser has no Map.groupBy. */
function groupedBy(list) {
  const points = new Map();
  for (const query of list.plotted) {
    const key = list.key(query);
    points.set(key, [...(points.get(key) ?? []), query]);
  }
  return points;
}

function shortened(name) {
  return name.length > 40 ? `${name.slice(0, 20)}…${name.slice(-19)}` : name;
}

// --- one query ------------------------------------------------------------------------------------

/** Prepare the dialog of one query: the turns before it, values, and two rankings side by side; return what opens it. */
function queryDetails(list) {
  const dialog = byId("query-details");
  const sides = [...dialog.querySelectorAll(".ranking select")];
  for (const side of sides) list.runs.forEach((name, run) => side.append(element("option", { value: run }, name)));
  let opened = 0;
  const neighbour = (step) => (list.found.includes(opened) ? list.found[list.found.indexOf(opened) + step] : undefined);
  const show = (query) => {
    opened = query;
    putAddress(`#q=${encodeURIComponent(list.ids[query])}`);
    byId("query-previous").disabled = neighbour(-1) === undefined;
    byId("query-next").disabled = neighbour(1) === undefined;
    const place = list.found.indexOf(query) + 1;
    byId("query-place").textContent = place ? `${place.toLocaleString("en")} of ${list.found.length.toLocaleString("en")}` : "";
    showHead(list, query, show);
    const [left, right] = sides.map((side) => Number(side.value));
    showValues(list, query, left, right);
    showRankings(list, query, left, right);
    showMissed(list, query, left, right);
    drawMoves(dialog);
  };
  const step = (by) => {
    if (neighbour(by) === undefined) return;
    show(neighbour(by));
    dialog.scrollTop = 0;
    if (document.activeElement.disabled || !dialog.contains(document.activeElement)) byId("query-close").focus();
  };
  sides.forEach((side) => side.addEventListener("change", () => show(opened)));
  byId("query-previous").addEventListener("click", () => step(-1));
  byId("query-next").addEventListener("click", () => step(1));
  byId("query-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.addEventListener("close", () => putAddress("#queries"));
  dialog.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "SELECT") step({ ArrowLeft: -1, ArrowRight: 1 }[event.key]);
  });
  for (const event of ["mouseover", "focusin"]) {
    dialog.addEventListener(event, ({ target }) => pickDocument(dialog, target.closest("[data-document]")?.dataset.document));
  }
  showGrades(list);
  new ResizeObserver(() => drawMoves(dialog)).observe(dialog);
  return (query) => {
    [sides[0].value, sides[1].value] = [list.baseline, list.run];
    show(query);
    if (!dialog.open) dialog.showModal();
  };
}

/** Let the address of the page name what is open, where it may: a page within another has none of its own. */
function putAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // the page works without
  }
}

/** Show the turns before a query, its text, id and fields; turns that are judged can be opened. */
function showHead(list, query, show) {
  const turns = (list.turns?.[query] ?? []).map((turn) => {
    const text = list.texts[turn] ?? list.ids[turn];
    if (turn >= list.n) return element("li", {}, text);
    const link = element("a", { href: `#q=${encodeURIComponent(list.ids[turn])}` }, text);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(turn);
    });
    return element("li", {}, link);
  });
  const all = document.querySelector(".turns");
  all.replaceChildren(...turns);
  all.hidden = !turns.length;
  const text = list.texts?.[query];
  byId("query-title").textContent = text ?? list.ids[query];
  const fields = Object.entries(list.fields).map(([field, labels]) => `${field} ${labels[query] || "–"}`);
  byId("query-about").textContent = [...(text ? [list.ids[query]] : []), ...fields].join(" · ");
}

/** Show the values of the two runs, on each measure. */
function showValues(list, query, left, right) {
  const headings = ["measure", list.runs[left], list.runs[right], "Δ"].map((text, place) =>
    element("th", { scope: "col", class: place ? null : "label" }, ...breakable(text)),
  );
  const rows = list.measures.map((name, measure) => {
    const delta = list.delta(query, measure, right, left);
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: "label" }, name),
      ...[left, right].map((run) => element("td", {}, list.format(list.value(run, query, measure)))),
      element("td", { class: outcomeOf(delta) }, list.signed(delta)),
    );
  });
  const overlap = left === right ? undefined : list.overlap(right, left);
  if (overlap) {
    const name = element("th", { scope: "row", class: "label" }, `RBO (p = ${list.persistence})`);
    rows.push(element("tr", { id: "query-rbo" }, name, element("td", { colspan: 3 }, overlapText(overlap.values[query]))));
  }
  byId("query-values").replaceChildren(element("thead", {}, element("tr", {}, ...headings)), element("tbody", {}, ...rows));
}

/** Show both rankings: each document with its grade and its rank in the other. */
function showRankings(list, query, left, right) {
  const judged = new Map(list.judged[query].map(([place, grade, ...ranks]) => [place, { grade, ranks }]));
  for (const [side, run, other] of [["left", left, right], ["right", right, left]]) {
    const items = list.rankings[run][query].map((place, number) => {
      const known = judged.get(place);
      const there = list.rankings[other][query].indexOf(place) + 1;
      const rank = known ? known.ranks[other] : there || null;
      const item = documentItem(list, place, known?.grade);
      item.tabIndex = 0;
      item.prepend(element("span", { class: "rank" }, String(number + 1)));
      const isKnown = !list.rankings[other][query].includes(-1);
      if (run !== other && place >= 0) item.append(moveOf(list, Boolean(known), number + 1, rank, other, isKnown));
      return item;
    });
    const nothing = element("li", { class: "note" }, "Nothing was retrieved.");
    document.querySelector(`[data-side=${side}] ol`).replaceChildren(...(items.length ? items : [nothing]));
  }
  const notes = [...new Set([left, right])].map((run) => list.unread[run]).filter(Boolean);
  if (!list.documents.texts) notes.push("Documents have no titles here: their data set has none, or is not on the machine that made this page.");
  byId("query-notes").replaceChildren(...notes.map((note) => element("p", { class: "note" }, note)));
}

/**
 * Say where a document stands in the other run: a sign to look at, and words. All ranks of judged ones are known;
 * an unjudged one may be any of those that the other run has, where these could not be read.
 */
function moveOf(list, isJudged, rank, other, run, isKnown) {
  const name = list.runs[run];
  const unjudged = isKnown ? `not among the first ${list.depth} of ${name}` : `may be among the first of ${name}, whose unjudged documents are not known`;
  const about = other !== null ? `rank ${other} in ${name}` : isJudged ? `not retrieved by ${name}` : unjudged;
  const sign = other === null ? (isJudged || isKnown ? "∅" : "?") : other === rank ? "=" : `#${other}`;
  return element("span", { class: "move", title: about }, sign);
}

/** Make the item of a document: grade, title or id. */
function documentItem(list, place, grade, said = "") {
  const id = place < 0 ? "an unjudged document" : list.documents.ids[place];
  const text = place < 0 ? null : list.documents.texts?.[place];
  const about = element("span", { class: "document" }, element("span", {}, text || id));
  if (text || said) about.append(element("small", {}, [text && id, said].filter(Boolean).join(" · ")));
  const item = element("li", { class: grade > 0 ? "relevant" : null }, gradeMark(list, grade), about);
  if (place >= 0) item.dataset.document = place;
  return item;
}

/** Make the mark of a grade: its number on its colour; of an unjudged document a question mark. */
function gradeMark(list, grade) {
  const isJudged = grade !== undefined;
  const kind = !isJudged ? "unjudged" : grade > 0 ? (grade >= list.grades[0] ? "best" : "partly") : "not";
  const about = isJudged ? `grade ${grade}` : "unjudged";
  return element("span", { class: `grade ${kind}`, title: about, role: "img", "aria-label": about }, isJudged ? String(grade) : "?");
}

/** Explain the marks. */
function showGrades(list) {
  const marks = [...list.grades.map((grade) => [grade, `grade ${grade}`]), [undefined, "unjudged"]];
  const items = marks.map(([grade, about]) => element("li", {}, gradeMark(list, grade), about));
  const moves = `#4: rank 4 on the other side; =: the same rank; ∅: not among its first ${list.depth}, or if judged, not retrieved${list.unread.some(Boolean) ? "; ?: not known" : ""}`;
  document.querySelector(".grades").replaceChildren(...items, element("li", {}, moves));
}

/** List the relevant documents that neither run has among its first. */
function showMissed(list, query, left, right) {
  const isFirst = (rank) => rank !== null && rank <= list.depth;
  const missed = list.judged[query]
    .filter(([, grade, ...ranks]) => grade > 0 && !isFirst(ranks[left]) && !isFirst(ranks[right]))
    .sort((a, b) => b[1] - a[1]);
  const items = missed.map(([place, grade, ...ranks]) => {
    const known = ranks.filter((rank) => rank !== null);
    const best = known.length ? `best rank in any run: ${Math.min(...known)}` : "retrieved by no run";
    return documentItem(list, place, grade, best);
  });
  if (list.missed[query]) items.push(element("li", {}, `${list.missed[query].toLocaleString("en")} more`));
  byId("query-missed").hidden = !items.length;
  byId("query-missed").querySelector("h4").textContent = `Documents with a grade above 0 that neither has among its first ${list.depth}`;
  byId("query-missed").querySelector("ul").replaceChildren(...items);
}

/** Draw a line between the places of each document that both rankings have. */
function drawMoves(dialog) {
  const both = dialog.querySelector(".rankings");
  const svg = both.querySelector("svg");
  const frame = svg.getBoundingClientRect();
  const middle = (item) => {
    const { top, height } = item.getBoundingClientRect();
    return top + height / 2 - frame.top;
  };
  svg.setAttribute("viewBox", `0 0 ${frame.width || 1} ${frame.height || 1}`);
  svg.replaceChildren();
  for (const item of both.querySelectorAll("[data-side=left] [data-document]")) {
    const there = both.querySelector(`[data-side=right] [data-document="${item.dataset.document}"]`);
    if (!there) continue;
    const [start, end, bend] = [middle(item), middle(there), frame.width / 2];
    const d = `M0 ${start} C${bend} ${start} ${bend} ${end} ${frame.width} ${end}`;
    svg.append(shape("path", { d, class: item.className, "data-document": item.dataset.document }));
  }
}

/** Mark a document on both sides, and its line. */
function pickDocument(dialog, place) {
  for (const each of dialog.querySelectorAll(".rankings [data-document]")) {
    each.classList.toggle("picked", each.dataset.document === place);
  }
}
