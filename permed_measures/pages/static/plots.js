"use strict";

/** Draw a Vega-Lite specification into an element; the view is returned. */
async function draw(place, spec) {
  const { view } = await vegaEmbed(place, spec, { renderer: "svg", actions: false, hover: true });
  return view;
}

/** Draw each specification into a place of its own, in a grid. */
async function drawAll(grid, specs) {
  const places = specs.map(() => element("figure"));
  grid.append(...places); // before any is drawn: their width follows from their number
  return Promise.all(specs.map((spec, number) => draw(places[number], spec)));
}
