// The parts of a task as a radar: an axis for each part, a closed line for each model.

const RADAR = { width: 400, height: 280, radius: 108, middle: 146 };
const MINIMUM_AXES = 3;
const MAXIMUM_AXES = 12; // more of them cannot be read
const RINGS = [0.25, 0.5, 0.75, 1];
const LABELED = [0.5, 1]; // rings whose value is written beside them

// Return a radar for each column that a task breaks down by; other measures than the headline have none.
function radarPlots(task, models) {
  return [...partMetrics(task)].map(([by, metrics]) => {
    const own = metrics.filter((metric) => metric === `${task.headline}_${metricOf(metric).of}`);
    const axes = own.map((metric) => ({
      metric,
      label: labelOf(metric),
      byModel: valuesByModel(task, metric, models),
    }));
    const known = axes.filter(({ byModel }) => byModel.size);
    if (known.length < MINIMUM_AXES || known.length > MAXIMUM_AXES) return null;
    return radarPlot(task, report.breakdowns[by] || by, known, models);
  });
}

function radarPlot(task, name, axes, models) {
  const headline = valuesByModel(task, headlineOf(task), models);
  const isWhole = (model) => axes.every(({ byModel }) => byModel.has(model));
  const place = byValue(headlineOf(task));
  const ranked = [...headline.values()].filter((entry) => isWhole(plottedModel(entry))).sort(place);
  if (!ranked.length) return null;
  const drawn = ranked.slice(0, MAXIMUM_LOOKS);
  const title = `${task.name}: ${name}`;
  const left = headline.size - drawn.length;
  const note =
    left > 0 && `${count(left, "model")} not drawn: choose models above, or see the numbers.`;
  const columns = axes.map(({ metric, label }) => [label, entriesOf(task, metric)]);
  const numbers = partsTable(title, columns)?.slice(1);
  return plotFigure(
    title,
    radarSvg(axes, drawn, title),
    radarLegend(drawn),
    note && quiet(note),
    numbers && more("Numbers", numbers),
  );
}

function radarSvg(axes, drawn, title) {
  const { width, height, radius, middle } = RADAR;
  const maximum = maximumOf(
    axes[0].metric,
    axes.flatMap(({ byModel }) => [...byModel.values()]),
  );
  const at = (index, share) => {
    const angle = (2 * Math.PI * index) / axes.length - Math.PI / 2;
    const distance = radius * Math.min(1, Math.max(0, share));
    return [width / 2 + distance * Math.cos(angle), middle + distance * Math.sin(angle)];
  };
  const outline = (shares) =>
    shares.map((share, index) => at(index, share).map((number) => number.toFixed(1))).join(" ");
  const rings = RINGS.map((share) =>
    el("polygon", { class: "ring", points: outline(axes.map(() => share)) }),
  );
  const spokes = axes.map((axis, index) => {
    const [x2, y2] = at(index, 1);
    return el("line", { class: "axis", x1: width / 2, y1: middle, x2, y2 });
  });
  const lines = drawn.map((entry, look) => {
    const values = axes.map(({ byModel }) => byModel.get(plottedModel(entry)));
    const texts = axes.map(({ label }, index) => `${label} ${boundText(values[index])}`);
    const points = outline(values.map(({ value }) => value / maximum));
    const name = el("title", {}, `${entry.run.label}: ${texts.join(", ")}`);
    return el("polygon", { class: `look look${look}`, points }, name);
  });
  const scale = LABELED.map((share) => {
    const [x, y] = at(0, share);
    return el("text", { x: x + 3, y: y + 9 }, valueText(share * maximum, axes[0].metric));
  });
  const box = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title };
  const names = axes.map((axis, index) => axisName(axis.label, at, index));
  return el("svg", { class: "plot radar", ...box }, rings, spokes, lines, scale, names);
}

// Write the name of an axis beside its end, with a word a line.
function axisName(label, at, index) {
  const [x, y] = at(index, 1);
  const offset = x - RADAR.width / 2;
  const isCentered = Math.abs(offset) < 10;
  const anchor = isCentered ? "middle" : offset > 0 ? "start" : "end";
  const side = isCentered ? 0 : 6 * Math.sign(offset);
  const isAbove = y < RADAR.middle;
  const words = label.split(" ");
  const first = isAbove && isCentered ? y - 6 - 11 * (words.length - 1) : y + (isCentered ? 14 : 3);
  return words.map((word, line) =>
    el("text", { x: x + side, y: first + 11 * line, "text-anchor": anchor }, word),
  );
}

function radarLegend(drawn) {
  const items = drawn.map((entry, look) => {
    const line = el("line", { class: `look look${look}`, x1: 1, x2: 31, y1: 6, y2: 6 });
    const sample = el(
      "svg",
      { class: "sample", viewBox: "0 0 32 12", "aria-hidden": "true" },
      line,
    );
    return el("li", {}, sample, ` ${entry.run.label}: ${boundText(entry)}`);
  });
  return el("ul", { class: "looks" }, items);
}
