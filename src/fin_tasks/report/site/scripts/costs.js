// Cost against score: a plot for each task of which two models' costs are known.

const PLOT = { width: 360, height: 230, left: 44, right: 12, top: 10, bottom: 34 };
const MAXIMUM_LABELS = 8;

function costPlot(task, metric, models) {
  const points = [];
  for (const entry of measuredOf(task, metric)) {
    const { cost } = costOf(entry.run.id);
    const isKnown = cost > 0 && entry.value !== null && entry.n > 0;
    if (isKnown && entry.isShown && models.includes(entry.run.model)) {
      points.push({ entry, cost: (1000 * cost) / entry.n });
    }
  }
  if (points.length < 2) return null;
  points.sort((a, b) => a.cost - b.cost);
  const currency = report.prices?.currency || "";
  const title = `${task.name}: ${labelOf(metric)} and cost of 1,000 questions`;
  return el("figure", {}, el("figcaption", {}, title), plotOf(points, metric, currency, title));
}

function plotOf(points, metric, currency, title) {
  const maximum = maximumOf(
    metric,
    points.map(({ entry }) => entry),
  );
  const costs = points.map(({ cost }) => Math.log10(cost));
  const [from, to] = [Math.floor(Math.min(...costs)), Math.ceil(Math.max(...costs) + 1e-9)];
  const x = (cost) => {
    const share = (Math.log10(cost) - from) / (to - from || 1);
    return PLOT.left + share * (PLOT.width - PLOT.left - PLOT.right);
  };
  const y = (value) => {
    const share = Math.min(1, Math.max(0, value / maximum));
    return PLOT.height - PLOT.bottom - share * (PLOT.height - PLOT.top - PLOT.bottom);
  };
  const best = new Set(bestPoints(points, metric));
  const named = [...best].slice(-MAXIMUM_LABELS);
  const box = { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": title };
  return el(
    "svg",
    { class: "plot", ...box },
    plotAxes({ x, y, from, to, maximum, metric, currency }),
    points.map((point) => plotPoint(point, { x, y, metric, isBest: best.has(point) })),
    named.map(({ entry, cost }) => {
      const isRight = x(cost) > PLOT.width / 2;
      const place = { x: x(cost) + (isRight ? -6 : 6), y: y(entry.value) - 5 };
      return el("text", { ...place, "text-anchor": isRight ? "end" : "start" }, entry.run.label);
    }),
  );
}

// Return the points that no cheaper one beats.
function bestPoints(points, metric) {
  const sign = metricOf(metric).higher_is_better === false ? -1 : 1;
  let best = -Infinity;
  return points.filter(({ entry }) => {
    const isBetter = sign * entry.value > best;
    if (isBetter) best = sign * entry.value;
    return isBetter;
  });
}

function plotPoint({ entry, cost }, { x, y, metric, isBest }) {
  const text = `${entry.run.label}: ${boundText(entry)}, ${cost.toPrecision(2)} for 1,000 questions`;
  const place = { cx: x(cost), cy: y(entry.value), r: isBest ? 4 : 3 };
  const bounds = !isMissing(entry.low) && {
    class: "range",
    x1: x(cost),
    x2: x(cost),
    y1: y(entry.low),
    y2: y(entry.high),
  };
  return el(
    "g",
    { class: isBest ? "best" : "" },
    bounds && el("line", bounds),
    el("circle", place, el("title", {}, `${text} (${intervalText({ ...entry, metric })})`)),
  );
}

function plotAxes({ x, y, from, to, maximum, metric, currency }) {
  const bottom = PLOT.height - PLOT.bottom;
  const right = PLOT.width - PLOT.right;
  const marks = [];
  for (let power = from; power <= to; power += 1) {
    const place = { x: x(10 ** power), y: bottom + 14, "text-anchor": "middle" };
    marks.push(el("text", place, `${+(10 ** power).toPrecision(1)}`));
  }
  for (const share of [0, 0.5, 1]) {
    const height = y(share * maximum);
    const place = { x: PLOT.left - 4, y: height + 3, "text-anchor": "end" };
    const line = { class: "axis", x1: PLOT.left, x2: right, y1: height, y2: height };
    marks.push(el("line", line), el("text", place, valueText(share * maximum, metric)));
  }
  const label = { x: (PLOT.left + right) / 2, y: PLOT.height - 4, "text-anchor": "middle" };
  return [marks, el("text", label, `${currency}, logarithmic`)];
}
