"use strict";

/** Let the tables of a result be sorted, shaded and copied. */
function show(data, words) {
  document.querySelectorAll(".sortable").forEach((place) => showTable(place, data.copies[place.dataset.copies], words));
}
