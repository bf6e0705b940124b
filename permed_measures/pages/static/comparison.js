"use strict";

/** Show what a comparison has beside its tables. */
async function show(data, words) {
  showTable(document.getElementById("table"), data.copies, words);
  document.querySelectorAll("#table details table, #by-group table").forEach((table) => makeSortable(table, words));
  if (typeof showQueries === "function") await showQueries(data.queries, data, words);
  const { rest } = await drawAll(document.getElementById("forest-charts"), data.forest);
  if (data.groups.length) await showGroups(data.groups, data.styles, rest);
}

/** Show the plots by group, with one legend for all of them, once the plots above them are drawn. */
async function showGroups(specs, styles, before) {
  const grid = document.getElementById("group-charts");
  const views = [];
  const pick = (runs) => {
    specs.forEach((spec) => (spec.params[0].value = runs)); // for those that are yet to be drawn
    views.forEach((view) => view.signal("picked", runs).runAsync());
  };
  grid.before(legend(styles, pick));
  if (specs.length > FIRST) before.then(() => drawAll(grid, specs, views));
  else await drawAll(grid, specs, views);
}
