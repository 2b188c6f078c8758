// Numbers as people read them.

const MINUS = "\u2212";

/** A value in its unit: fractions as percent, points and numbers as they are. */
function formatValue(value, unit, digits = 1) {
  if (value === null || value === undefined) return "–";
  const scaled = unit === "fraction" ? 100 * value : value;
  const places = unit === "number" ? (Math.abs(scaled) >= 100 ? 0 : 3) : digits;
  return scaled.toFixed(places).replace("-", MINUS);
}

/** Likewise with its sign, for differences. */
function formatDifference(value, unit) {
  if (value === null || value === undefined) return "–";
  const text = formatValue(value, unit);
  return value > 0 ? `+${text}` : text;
}

/** What the numbers of a unit are. */
function unitName(unit) {
  return {fraction: "%", points: "points of 100", number: ""}[unit];
}

function formatInterval(low, high, unit) {
  if (low === null || high === null || low === undefined) return "";
  return `${formatValue(low, unit)} to ${formatValue(high, unit)}`;
}

function formatP(p) {
  if (p < 0.001) return "< 0.001";
  return p.toFixed(3);
}

function formatCount(n) {
  return n.toLocaleString("en-US");
}

/** How many there are of what, as in "1 model" and "2 models". */
function counted(items, name) {
  return `${formatCount(items.length)} ${name}${items.length === 1 ? "" : "s"}`;
}

function formatDate(date) {
  return date.slice(0, 16).replace("T", " ");
}
