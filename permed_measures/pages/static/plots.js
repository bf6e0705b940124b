"use strict";

const FIRST = 4; // plots are drawn before the page is ready; what is below them can wait

/** Draw a Vega-Lite specification into an element; the view is returned. */
async function draw(place, spec) {
  const { view } = await vegaEmbed(place, spec, { renderer: "svg", actions: false, hover: true });
  return view;
}

/** Draw each specification into a place of its own, in a grid; of many, all but the first a little later. */
async function drawAll(grid, specs, views = []) {
  const places = specs.map(({ height }) => element("figure", { style: `min-height: ${height + 70}px` }));
  grid.append(...places); // before any is drawn: their width follows from their number
  const drawOne = async (number) => views.push(await draw(places[number], specs[number]));
  for (const number of specs.keys()) if (number < FIRST) await drawOne(number);
  return { rest: drawRest(specs.length, drawOne) };
}

/** Draw the other plots, one at a time, so that the page can be used meanwhile. */
async function drawRest(n, drawOne) {
  for (let number = FIRST; number < n; number++) {
    await new Promise((done) => setTimeout(done));
    await drawOne(number);
  }
}

/** A legend with a button for each run; `changed` gets the names of those that are picked. */
function legend(styles, changed) {
  const picked = new Set();
  const items = styles.map(({ run, colour, dash }) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }, swatch(colour, dash), run);
    button.addEventListener("click", () => {
      if (!picked.delete(run)) picked.add(run);
      button.setAttribute("aria-pressed", picked.has(run));
      changed([...picked]);
    });
    return element("li", {}, button);
  });
  return element("ul", { class: "runs" }, ...items);
}

/** A short line as a plot draws it. */
function swatch(colour, dash) {
  const [svg, line] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", "M0 6H24");
  line.style.stroke = colour;
  line.style.strokeDasharray = dash.join(" ");
  svg.append(line);
  return svg;
}
