"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** Make the dialog of one query: the turns before it, values, and two rankings side by side. */
function queryDetails(list) {
  const body = element("div");
  const told = element("p", { class: "unseen", role: "status" }); // so that a step to another query is heard
  const dialog = element("dialog", { id: "query-details", "aria-labelledby": "query-title" }, told, body);
  const opened = { query: null, left: 0, right: 0 };
  const show = () => {
    body.replaceChildren(...detailsOf(list, opened, show, go, () => dialog.close()));
    drawMoves(dialog);
  };
  const go = (query) => {
    opened.query = query;
    putAddress(`#q=${encodeURIComponent(list.names[query])}`);
    const focused = document.activeElement?.id;
    show();
    told.textContent = document.getElementById("query-title").textContent;
    dialog.scrollTop = 0;
    const same = focused && dialog.querySelector(`#${focused}:not(:disabled)`);
    (same || document.getElementById("query-close")).focus();
  };
  list.open = (query) => {
    Object.assign(opened, { left: list.baseline, right: list.run });
    if (!dialog.open) dialog.showModal();
    go(query);
  };
  dialog.addEventListener("close", () => {
    if (dialog.open) return; // again, before this was told
    putAddress("#queries");
    const row = document.querySelector(`[data-query="${CSS.escape(list.names[opened.query])}"] button`);
    row?.focus();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT") return;
    const query = { ArrowLeft: neighbour(list, opened.query, -1), ArrowRight: neighbour(list, opened.query, 1) }[event.key];
    if (query !== undefined) go(query);
  });
  new ResizeObserver(() => drawMoves(dialog)).observe(dialog);
  list.follow = () => {
    const query = list.names.indexOf(queryOfAddress());
    if (query >= 0) list.open(query);
  };
  window.addEventListener("hashchange", list.follow);
  return dialog;
}

/** Return the id of the query that the address of the page asks for; null if it asks for none. */
function queryOfAddress() {
  const found = location.hash.match(/^#q=(.*)$/);
  try {
    return found && decodeURIComponent(found[1]);
  } catch {
    return null;
  }
}

/** Let the address of the page name what is open, where it may: a page within another has none of its own. */
function putAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // the page works without
  }
}

/** Return the query before or after one, in the order of the table. */
function neighbour(list, query, step) {
  const place = list.found.indexOf(query);
  return place < 0 ? undefined : list.found[place + step];
}

/** Make what the dialog shows of a query. */
function detailsOf(list, opened, show, go, close) {
  const { queries, words } = list;
  const { query } = opened;
  const title = element("h3", { id: "query-title" }, queries.texts?.[query] ?? list.names[query]);
  const labels = list.fields.map((field) => `${field} ${queries.fields[field][query] || "–"}`);
  const about = [...(queries.texts?.[query] ? [list.names[query]] : []), ...labels].join(" · ");
  return [
    detailsBar(list, query, go, close),
    element(
      "div",
      { class: "details-head" },
      element("div", {}, ...turnsBefore(list, query, go), title, element("p", { class: "note" }, about)),
      valuesOf(list, opened),
    ),
    twoRankings(list, opened, show),
    ...missedBy(list, opened),
  ];
}

function detailsBar(list, query, go, close) {
  const { words } = list;
  const place = list.found.indexOf(query);
  const step = (id, by, name, sign) => {
    const to = neighbour(list, query, by);
    const button = element("button", { type: "button", id, "aria-label": name, title: name }, sign);
    button.disabled = to === undefined;
    button.addEventListener("click", () => go(to));
    return button;
  };
  const [n, total] = [place + 1, list.found.length].map((each) => each.toLocaleString("en"));
  const end = element("button", { type: "button", id: "query-close" }, words.q_close);
  end.addEventListener("click", close);
  return element(
    "div",
    { class: "details-bar" },
    step("query-previous", -1, words.q_previous, "←"),
    step("query-next", 1, words.q_next, "→"),
    element("span", { class: "note" }, place < 0 ? "" : fill(words.q_place, { n, total })),
    end,
  );
}

/** List the turns before a query; those that are judged can be opened. */
function turnsBefore(list, query, go) {
  const { queries, words } = list;
  const turns = queries.turns?.[query] ?? [];
  if (!turns.length) return [];
  const items = turns.map((turn) => {
    const text = queries.texts[turn] ?? queries.ids[turn];
    if (turn >= queries.n) return element("li", {}, element("span", {}, text));
    const link = element("a", { href: `#q=${encodeURIComponent(queries.ids[turn])}` }, text);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(turn);
    });
    return element("li", {}, link);
  });
  return [element("p", { class: "note" }, words.q_turns), element("ol", { class: "turns" }, ...items)];
}

/** Make the table of the values of the two runs, on each measure. */
function valuesOf(list, { query, left, right }) {
  const { queries, words } = list;
  const heading = (text, kind) => element("th", { scope: "col", class: kind, title: text }, element("span", {}, ...breakable(text)));
  const head = [heading(words.measure, "label"), heading(queries.runs[left]), heading(queries.runs[right]), heading("Δ")];
  const rows = queries.measures.map((name, measure) => {
    const [first, second] = [left, right].map((run) => list.value(run, query, measure));
    const delta = Math.abs(second - first) <= ROUNDING ? 0 : second - first;
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: "label" }, name),
      element("td", {}, list.format(first)),
      element("td", {}, list.format(second)),
      element("td", { class: `delta ${outcomeOf(delta)}` }, list.signed(delta)),
    );
  });
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  return element("div", { class: "wide", role: "group", "aria-label": words.measures, tabindex: 0 }, table);
}

// --- rankings ---

/** Make two rankings, with room for the lines between them. */
function twoRankings(list, opened, show) {
  const { queries, words } = list;
  const sides = ["left", "right"].map((side) => {
    const select = element("select", { id: `ranking-${side}`, "aria-label": words[`q_${side}`] });
    queries.runs.forEach((name, run) => select.append(element("option", { value: run }, name)));
    select.value = opened[side];
    select.addEventListener("change", () => {
      opened[side] = Number(select.value);
      show();
      document.getElementById(select.id).focus();
    });
    const other = opened[side === "left" ? "right" : "left"];
    return element("div", { class: "ranking", "data-side": side }, select, rankingOf(list, opened.query, opened[side], other));
  });
  const lines = document.createElementNS(SVG, "svg");
  lines.setAttribute("aria-hidden", "true");
  lines.setAttribute("preserveAspectRatio", "none"); // printed, the rankings may be higher
  const both = element("div", { class: "rankings" }, sides[0], lines, sides[1]);
  for (const event of ["mouseover", "focusin"]) {
    both.addEventListener(event, ({ target }) => pickDocument(both, target.closest("[data-document]")?.dataset.document));
  }
  for (const event of ["mouseleave", "focusout"]) both.addEventListener(event, () => pickDocument(both));
  return element("div", {}, ...notesOn(list, opened), both, gradeLegend(list));
}

/** Say why documents are not known, in one line for each reason. */
function notesOn(list, opened) {
  const { queries, words } = list;
  const notes = [...new Set([opened.left, opened.right])]
    .filter((run) => queries.unread[run])
    .map((run) => fill(words[`q_unread_${queries.unread[run]}`], { run: queries.runs[run] }));
  if (!queries.documents.texts) notes.push(words.q_no_texts);
  return notes.map((note) => element("p", { class: "note" }, note));
}

function gradesOf(list, query) {
  return new Map(list.queries.grades[query]);
}

/** Make the list of the documents of a run, each with its grade and its rank in the other run. */
function rankingOf(list, query, run, other) {
  const { queries, words } = list;
  const ranking = queries.rankings[run][query];
  if (!ranking.length) return element("p", { class: "note" }, words.q_nothing);
  const grades = gradesOf(list, query);
  const items = ranking.map((place, number) => {
    const there = place < 0 ? -1 : queries.rankings[other][query].indexOf(place);
    const beyond = place < 0 ? undefined : queries.deeper[other][query].find(([each]) => each === place)?.[1];
    const rank = there >= 0 ? there + 1 : beyond;
    return documentItem(list, place, grades.get(place), {
      rank: number + 1,
      moved: run === other || place < 0 ? "" : moveOf(list, grades.has(place), number + 1, rank, other),
    });
  });
  return element("ol", {}, ...items);
}

/** Say where a document stands in the other run: a sign to look at, and words. All ranks of judged ones are known. */
function moveOf(list, isJudged, rank, other, run) {
  const { queries, words } = list;
  const facts = { rank: other, run: queries.runs[run], depth: queries.depth };
  const sign = other === undefined ? "∅" : other === rank ? "=" : `#${other}`;
  const lacking = isJudged ? words.q_not_retrieved : words.q_not_first;
  const told = fill(other === undefined ? lacking : words.q_there, facts);
  return element("span", { class: "move", title: told }, element("span", { "aria-hidden": "true" }, sign), element("span", { class: "unseen" }, told));
}

/** Make the item of a document: rank, grade, title or id. */
function documentItem(list, place, grade, { rank = null, moved = "", said = "" }) {
  const { queries, words } = list;
  const id = place < 0 ? words.q_unknown : queries.documents.ids[place];
  const text = place < 0 ? null : queries.documents.texts?.[place];
  const about = element("span", { class: "document" }, element("span", {}, text || id));
  if (text || said) about.append(element("small", {}, [text && id, said].filter(Boolean).join(" · ")));
  const item = element("li", { tabindex: rank === null ? false : 0 }, gradeMark(list, grade), about);
  if (rank !== null) item.prepend(element("span", { class: "rank" }, String(rank)));
  if (place >= 0) item.dataset.document = place;
  if (grade > 0) item.classList.add("relevant");
  if (moved) item.append(moved);
  return item;
}

/** Make the mark of a grade: its number on its colour; of an unjudged document a question mark. */
function gradeMark(list, grade) {
  const { words } = list;
  const isJudged = grade !== undefined;
  const told = isJudged ? fill(words.q_grade, { grade }) : words.q_unjudged;
  const kind = !isJudged ? "unjudged" : grade > 0 ? (grade >= list.queries.all_grades[0] ? "best" : "partly") : "not";
  const mark = element("span", { class: `grade ${kind}`, title: told });
  mark.append(element("span", { "aria-hidden": "true" }, isJudged ? String(grade) : "?"), element("span", { class: "unseen" }, told));
  return mark;
}

/** Explain the marks. */
function gradeLegend(list) {
  const { queries, words } = list;
  const judged = queries.all_grades.map((grade) => element("li", {}, gradeMark(list, grade), fill(words.q_grade, { grade })));
  const rest = element("li", {}, gradeMark(list, undefined), words.q_unjudged);
  const moves = element("li", {}, fill(words.q_moves, queries));
  return element("ul", { class: "grades note", "aria-hidden": "true" }, ...judged, rest, moves);
}

/** List the relevant documents that neither run has among its first. */
function missedBy(list, { query, left, right }) {
  const { queries, words } = list;
  const seen = new Set([...queries.rankings[left][query], ...queries.rankings[right][query]]);
  const others = queries.grades[query].filter(([place, grade]) => grade > 0 && !seen.has(place));
  const items = [...others, ...queries.missed[query]].sort((a, b) => b[1] - a[1]).map(([place, grade, rank]) => {
    const best = rank ?? bestRank(queries, query, place);
    const said = best ? fill(words.q_best, { rank: best }) : words.q_nowhere;
    return documentItem(list, place, grade, { said });
  });
  if (!items.length) return [];
  const more = queries.n_missed[query] - queries.missed[query].length;
  if (more > 0) items.push(element("li", {}, fill(words.f_more, { n: more })));
  const heading = element("h4", {}, fill(words.q_missed, { depth: queries.depth }));
  return [heading, element("ul", { class: "missed" }, ...items)];
}

/** Return the best rank of a document among the first of any run; 0 if it is not there. */
function bestRank(queries, query, place) {
  const ranks = queries.rankings.map((rankings) => rankings[query].indexOf(place) + 1).filter(Boolean);
  return ranks.length ? Math.min(...ranks) : 0;
}

/** Draw a line between the places of each document that both rankings have. */
function drawMoves(dialog) {
  const both = dialog.querySelector(".rankings");
  if (!both) return;
  const svg = both.querySelector("svg");
  const frame = svg.getBoundingClientRect();
  const [left, right] = ["left", "right"].map((side) => [...both.querySelectorAll(`[data-side=${side}] [data-document]`)]);
  const middle = (item) => {
    const { top, height } = item.getBoundingClientRect();
    return top + height / 2 - frame.top;
  };
  svg.setAttribute("viewBox", `0 0 ${frame.width || 1} ${frame.height || 1}`);
  svg.replaceChildren();
  for (const item of left) {
    const there = right.find((each) => each.dataset.document === item.dataset.document);
    if (!there) continue;
    const [start, end, bend] = [middle(item), middle(there), frame.width / 2];
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", `M0 ${start} C${bend} ${start} ${bend} ${end} ${frame.width} ${end}`);
    line.dataset.document = item.dataset.document;
    for (const kind of ["relevant", "picked"]) line.classList.toggle(kind, item.classList.contains(kind));
    svg.append(line);
  }
}

/** Mark a document on both sides, and its line. */
function pickDocument(both, place) {
  for (const each of both.querySelectorAll("[data-document]")) each.classList.toggle("picked", each.dataset.document === place);
}
