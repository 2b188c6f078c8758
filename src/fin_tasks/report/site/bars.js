// Small pictures in table cells: where a value and its interval lie.

const BAR = {width: 84, height: 10};

/** An interval on the scale from `domain[0]` to `domain[1]`; a hollow dot is a published value. */
function intervalBar(value, low, high, domain, {published = false, zero = null} = {}) {
  const [from, to] = domain;
  const x = (number) => 2 + (BAR.width - 4) * Math.min(1, Math.max(0, (number - from) / (to - from || 1)));
  const parts = [svg("line", {class: "rail", x1: 0, x2: BAR.width, y1: 5, y2: 5})];
  if (zero !== null) parts.push(svg("line", {class: "zero", x1: x(zero), x2: x(zero), y1: 0, y2: 10}));
  if (low !== null && high !== null) {
    parts.push(svg("line", {class: "interval", x1: x(low), x2: x(high), y1: 5, y2: 5}));
  }
  parts.push(svg("circle", {class: published ? "point open" : "point", cx: x(value), cy: 5, r: published ? 3 : 2.5}));
  return svg("svg", {class: "bar", viewBox: `0 0 ${BAR.width} ${BAR.height}`, "aria-hidden": "true"}, parts);
}

/** The scale that a unit's bars share, or that the values at hand need. */
function domainOf(unit, entries) {
  if (unit === "fraction") return [0, 1];
  if (unit === "points") return [0, 100];
  const ends = entries.flatMap((one) => [one.value, one.low, one.high]).filter((end) => typeof end === "number");
  return ends.length ? [Math.min(0, ...ends), Math.max(...ends)] : [0, 1];
}
