"use strict";

/** Show what a comparison has beside its tables. */
async function show(data, words) {
  showMeans(data, words);
  if (typeof showQueries === "function") await showQueries(data.queries, data, words);
  await drawAll(document.getElementById("forest-charts"), data.forest);
  if (data.groups.length) await drawAll(document.getElementById("group-charts"), data.groups);
}
