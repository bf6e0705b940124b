"use strict";

/** Pixels of a point of one query; of several it has as many times, up to a limit. */
const AREA = 30;
const MOST_AREA = 700;

/** Plot the run against the baseline: a point for each pair of values, which picks its queries. */
async function queryScatter(list, place, specification) {
  const { queries, words } = list;
  const drawing = element("div");
  const note = element("figcaption", { class: "note" }, words.q_scatter_note);
  place.append(drawing, note);
  let points = [];
  let view = null;
  let latest = 0; // drawings may end in another order than they begin

  const show = async () => {
    points = pointsOf(list);
    const number = ++latest;
    view?.finalize();
    const drawn = await draw(drawing, scatterOf(list, specification, points));
    if (number !== latest) return;
    view = drawn;
    view.addEventListener("click", (_, item) => pick(points[item?.datum?.number] ?? null));
    list.mark(null);
  };
  const pick = (point) => {
    if (!point && !list.point) return;
    list.point = point && list.point?.key !== point.key ? point : null;
    Object.assign(list, { outcome: "", n: AT_FIRST });
    list.changed("point");
  };
  const filter = () => {
    points = pointsOf(list);
    view?.data("points", points.map(rowOf)).runAsync();
    list.mark(null);
  };
  list.mark = (query) => {
    const is = query === null ? (each) => each.key === list.point?.key : (each) => each.queries.has(query);
    view?.data("picked", points.filter(is).map(rowOf)).runAsync();
  };
  list.listeners.push((kind) => ({ all: show, filter }[kind] ?? (() => list.mark(null)))());
}

/** Collect the queries of each pair of values, those of the most queries first. */
function pointsOf(list) {
  const points = new Map();
  for (const query of list.plotted) {
    const [x, y] = [list.value(list.baseline, query), list.value(list.run, query)];
    const key = `${x} ${y}`;
    if (!points.has(key)) points.set(key, { key, x, y, outcome: outcomeOf(list.delta(query)), queries: new Set() });
    points.get(key).queries.add(query);
  }
  const sorted = [...points.values()].sort((a, b) => b.queries.size - a.queries.size);
  const most = sorted[0]?.queries.size;
  sorted.forEach((point, number) => {
    point.number = number;
    point.area = Math.max(AREA, point.queries.size * Math.min(AREA, MOST_AREA / most));
    point.shown = fill(list.words.q_point, {
      n: point.queries.size.toLocaleString("en"),
      run: list.queries.runs[list.run],
      baseline: list.queries.runs[list.baseline],
      x: list.format(point.x),
      y: list.format(point.y),
    });
  });
  return sorted;
}

function rowOf({ number, x, y, outcome, shown, area }) {
  return { number, x, y, outcome, shown, area, ring: area + 150 };
}

/** Return the specification with the points, the line of equal values, and the names of the axes. */
function scatterOf(list, specification, points) {
  const { queries, words } = list;
  const spec = structuredClone(specification);
  const [run, baseline] = [queries.runs[list.run], queries.runs[list.baseline]];
  let [least, most] = [0, 1];
  for (const run of [list.run, list.baseline]) {
    for (const value of queries.values[run][list.measure]) [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  const values = {
    diagonal: [{ x: least, y: least }, { x: most, y: most }],
    points: points.map(rowOf),
    picked: [],
  };
  const margin = (most - least) / 25; // so that points at the limits are whole
  for (const layer of spec.layer) {
    layer.data.values = values[layer.data.name];
    for (const [axis, name] of [["x", baseline], ["y", run]]) {
      layer.encoding[axis].scale.domain = [least - margin, most + margin];
      layer.encoding[axis].axis.title = name;
    }
  }
  const counts = { win: 0, tie: 0, loss: 0 };
  for (const point of points) counts[point.outcome] += point.queries.size;
  const facts = { run, baseline, measure: queries.measures[list.measure], ...counts };
  return { ...spec, title: facts.measure, description: fill(words.q_scatter, facts) };
}
