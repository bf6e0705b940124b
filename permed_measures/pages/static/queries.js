"use strict";

/** Queries that are shown at first, and that a click adds. */
const AT_FIRST = 25;
const MORE = 100;
/** A run more than these, and the table has the two that are compared alone. */
const MOST_RUNS = 10;
/** A field with more labels is searched, and not chosen from. */
const MOST_LABELS = 60;
/** Differences up to this are rounding. */
const ROUNDING = 1e-12;

/** Show all queries: what is compared, filters, a scatter, a table; a query opens with its rankings. */
async function showQueries(queries, data, words) {
  if (!queries) return;
  const list = queryList(queries, words);
  const place = document.getElementById("query-list");
  const table = queryTable(list);
  const plot = element("figure", { id: "query-scatter" });
  const parts = element("div", { class: "query-parts" }, plot, element("div", { class: "query-rows" }, table));
  place.append(queryTools(list), parts);
  const details = queryDetails(list);
  place.append(details);
  await queryScatter(list, plot, data.scatter);
  list.changed();
  list.follow();
}

/** What is chosen of the queries, and what follows from it; `listeners` are called after each change. */
function queryList(queries, words) {
  const means = queries.values.map((values) => values[0].reduce((sum, value) => sum + value, 0));
  const baseline = queries.baseline ?? 0;
  const others = means.map((_, run) => run).filter((run) => run !== baseline);
  const list = {
    queries,
    words,
    run: others.reduce((best, run) => (means[run] > means[best] ? run : best), others[0]),
    baseline,
    measure: 0,
    search: "",
    labels: new Map(),
    outcome: "",
    point: null,
    sort: { key: "delta", ascending: false },
    n: AT_FIRST,
    listeners: [],
    counts: {},
    found: [],
  };
  list.fields = Object.keys(queries.fields);
  list.names = queries.ids.slice(0, queries.n);
  list.texts = list.names.map((id, query) => `${id} ${queries.texts?.[query] ?? ""}`.toLowerCase());
  list.value = (run, query, measure = list.measure) => queries.values[run][measure][query];
  list.delta = (query, measure = list.measure) => {
    const difference = list.value(list.run, query, measure) - list.value(list.baseline, query, measure);
    return Math.abs(difference) <= ROUNDING ? 0 : difference;
  };
  list.format = (value) => value.toFixed(queries.digits);
  list.signed = (value) => {
    const text = Math.abs(value).toFixed(queries.digits);
    return `${Number(text) === 0 ? (value ? "±" : "") : value > 0 ? "+" : "−"}${text}`;
  };
  list.changed = (kind = "all") => {
    chooseQueries(list);
    for (const listener of list.listeners) listener(kind);
  };
  return list;
}

function outcomeOf(delta) {
  return delta > 0 ? "win" : delta < 0 ? "loss" : "tie";
}

/** Find the queries that fit all filters, in their order; count wins, ties and losses among the others' fits. */
function chooseQueries(list) {
  const terms = list.search.toLowerCase().split(/\s+/).filter(Boolean);
  const labels = [...list.labels].filter(([, label]) => label !== null);
  const fits = [];
  for (let query = 0; query < list.queries.n; query++) {
    if (!terms.every((term) => list.texts[query].includes(term))) continue;
    if (!labels.every(([field, label]) => list.queries.fields[field][query] === label)) continue;
    fits.push(query);
  }
  list.plotted = fits;
  const near = list.point ? fits.filter((query) => list.point.queries.has(query)) : fits;
  list.counts = { "": near.length, win: 0, tie: 0, loss: 0 };
  for (const query of near) list.counts[outcomeOf(list.delta(query))]++;
  list.found = list.outcome ? near.filter((query) => outcomeOf(list.delta(query)) === list.outcome) : near;
  sortQueries(list);
}

/** Sort the found queries by the chosen column; equal ones stay in the order of their ids. */
function sortQueries(list) {
  const columns = queryColumns(list);
  const { order } = columns.find(({ key }) => key === list.sort.key) ?? columns[1];
  const sign = list.sort.ascending ? 1 : -1;
  list.found.sort((a, b) => sign * order(a, b) || a - b);
}

// --- what is chosen ---

/** Make the choices of runs, measure, text, groups and outcome. */
function queryTools(list) {
  const { queries, words } = list;
  const tools = element("div", { class: "query-tools", role: "search" });
  const pick = (name, options) => {
    const select = element("select", { id: `query-${name}` });
    options.forEach((text, value) => select.append(element("option", { value }, text)));
    select.addEventListener("change", () => {
      const before = list[name];
      list[name] = Number(select.value);
      if (list.run === list.baseline) list[name === "run" ? "baseline" : "run"] = before;
      list.point = null;
      list.changed();
    });
    list.listeners.push(() => (select.value = list[name]));
    tools.append(element("label", {}, element("span", {}, words[name]), select));
  };
  pick("run", queries.runs);
  pick("baseline", queries.runs);
  pick("measure", queries.measures);
  for (const field of list.fields) {
    const labels = [...new Set(queries.fields[field])];
    if (labels.length <= MOST_LABELS) tools.append(fieldFilter(list, field, labels));
  }
  const search = element("input", { type: "search", id: "query-search", autocomplete: "off" });
  search.addEventListener("input", () => {
    [list.search, list.n] = [search.value, AT_FIRST];
    list.changed("filter");
  });
  list.listeners.push(() => search.value === list.search || (search.value = list.search));
  tools.append(element("label", { class: "query-search" }, element("span", {}, words.q_search), search));
  return element("div", {}, tools, outcomeFilter(list));
}

/** Make the choice of a group. */
function fieldFilter(list, field, labels) {
  const select = element("select", { "data-field": field }, element("option", { value: "" }, list.words.q_all_of));
  labels.sort(NAMES.compare);
  labels.forEach((label, number) => select.append(element("option", { value: number + 1 }, label || "–")));
  list.labels.set(field, null);
  select.addEventListener("change", () => {
    list.labels.set(field, select.value ? labels[select.value - 1] : null);
    list.n = AT_FIRST;
    list.changed("filter");
  });
  list.listeners.push(() => (select.value = labels.indexOf(list.labels.get(field)) + 1 || ""));
  return element("label", {}, element("span", {}, field), select);
}

/** Make the choice of wins, ties or losses, with how many there are, and the button that clears all filters. */
function outcomeFilter(list) {
  const { words } = list;
  const group = element("div", { class: "query-outcomes", role: "group", "aria-label": words.q_outcomes });
  for (const outcome of ["", "win", "tie", "loss"]) {
    const button = element("button", { type: "button", "data-outcome": outcome || "all" });
    button.addEventListener("click", () => {
      [list.outcome, list.n] = [outcome, AT_FIRST];
      if (list.sort.key === "delta" && outcome) list.sort.ascending = outcome === "loss"; // the largest first
      list.changed("filter");
    });
    list.listeners.push(() => {
      button.setAttribute("aria-pressed", list.outcome === outcome);
      button.textContent = fill(words[`q_${outcome || "all"}`], { n: list.counts[outcome].toLocaleString("en") });
    });
    group.append(button);
  }
  const clear = element("button", { type: "button", id: "query-clear" }, words.q_clear);
  clear.addEventListener("click", () => {
    Object.assign(list, { search: "", outcome: "", point: null, n: AT_FIRST });
    for (const field of list.labels.keys()) list.labels.set(field, null);
    list.changed("filter");
  });
  const point = element("span", { id: "query-point" });
  list.listeners.push(() => {
    point.textContent = list.point ? list.point.shown : "";
    const isGroup = [...list.labels.values()].some((label) => label !== null);
    clear.hidden = !(list.search || list.outcome || list.point || isGroup);
  });
  group.append(point, clear);
  return group;
}

// --- the table ---

/** Make the table of the queries, whose rows are made as they are asked for. */
function queryTable(list) {
  const { words } = list;
  const head = element("thead");
  const body = element("tbody");
  const table = element("table", { id: "query-table" }, element("caption", { class: "unseen" }, words.queries), head, body);
  const count = element("p", { class: "note", role: "status", id: "query-count" });
  const more = element("button", { type: "button", id: "query-more" });
  more.addEventListener("click", () => {
    const first = list.n;
    list.n += MORE;
    list.changed("more");
    body.rows[first]?.querySelector("button").focus();
  });
  list.listeners.push((kind) => {
    const columns = queryColumns(list);
    if (kind !== "more") body.replaceChildren();
    head.replaceChildren(queryHeadings(list, columns));
    body.append(...list.found.slice(body.rows.length, list.n).map((query) => queryRow(list, columns, query)));
    const [n, total] = [list.found.length, list.queries.n].map((each) => each.toLocaleString("en"));
    count.textContent = list.found.length ? fill(words.q_count, { n, total }) : words.q_empty;
    const left = list.found.length - body.rows.length;
    more.hidden = left <= 0;
    more.textContent = fill(words.q_more, { n: Math.min(left, MORE) });
  });
  moveByArrows(body);
  return element("div", {}, count, element("div", { class: "wide" }, table), more);
}

const NAMES = new Intl.Collator(undefined, { numeric: true });

/** List the columns: the query, the difference, the two runs, the other runs, the fields. */
function queryColumns(list) {
  const { queries, words } = list;
  const runs = [list.run, list.baseline];
  if (queries.runs.length <= MOST_RUNS) runs.push(...[...queries.runs.keys()].filter((run) => !runs.includes(run)));
  return [
    { key: "query", name: words.q_query, kind: "label", order: (a, b) => NAMES.compare(list.names[a], list.names[b]) },
    { key: "delta", name: "Δ", kind: "number", order: (a, b) => list.delta(a) - list.delta(b), text: (query) => list.signed(list.delta(query)) },
    ...runs.map((run) => ({
      key: `run ${run}`,
      name: queries.runs[run],
      kind: "number",
      order: (a, b) => list.value(run, a) - list.value(run, b),
      text: (query) => list.format(list.value(run, query)),
    })),
    ...list.fields.map((field) => ({
      key: `field ${field}`,
      name: field,
      kind: "field",
      order: (a, b) => NAMES.compare(queries.fields[field][a], queries.fields[field][b]),
      text: (query) => queries.fields[field][query],
    })),
  ];
}

function queryHeadings(list, columns) {
  const headings = columns.map(({ key, name, kind }) => {
    const button = element("button", { type: "button", class: "sort", title: fill(list.words.sort_by, { name }) });
    button.append(...breakable(name));
    const isChosen = list.sort.key === key;
    const direction = isChosen && (list.sort.ascending ? "ascending" : "descending");
    button.addEventListener("click", () => {
      list.sort = { key, ascending: isChosen ? !list.sort.ascending : kind !== "number" };
      list.changed("sort");
      document.querySelector("#query-table [aria-sort] button").focus();
    });
    return element("th", { scope: "col", class: kind, "aria-sort": direction, "data-column": key, "data-name": name }, button);
  });
  return element("tr", {}, ...headings);
}

/** Let a name be broken after its punctuation. */
function breakable(name) {
  return name.split(/(?<=[_.:/-])/).flatMap((part) => [part, element("wbr")]);
}

/** Make the row of a query; its button opens it. */
function queryRow(list, columns, query) {
  const { queries } = list;
  const id = list.names[query];
  const text = queries.texts?.[query];
  const open = element("button", { type: "button", class: "query-open" }, element("span", {}, text || id));
  if (text) open.append(element("small", {}, id));
  const cells = columns.slice(1).map(({ key, text }) => {
    const cell = element("td", {}, text(query));
    if (key === "delta") cell.className = `delta ${outcomeOf(list.delta(query))}`;
    return cell;
  });
  const heading = element("th", { scope: "row", class: "label" }, open);
  const row = element("tr", { "data-query": id }, heading, ...cells);
  row.addEventListener("click", () => getSelection().isCollapsed && list.open(query));
  for (const event of ["mouseenter", "focusin"]) row.addEventListener(event, () => list.mark?.(query));
  for (const event of ["mouseleave", "focusout"]) row.addEventListener(event, () => list.mark?.(null));
  return row;
}

/** Let the arrow keys go from row to row. */
function moveByArrows(body) {
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    const next = {
      ArrowDown: row?.nextElementSibling,
      ArrowUp: row?.previousElementSibling,
      Home: body.rows[0],
      End: body.rows[body.rows.length - 1],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next.querySelector("button").focus();
  });
}
