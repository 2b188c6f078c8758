// Values, intervals and ranks as people read them.

const SPACE = "\u00a0";
const metricOf = (name) => report.metrics[name] || { label: name };
const labelOf = (name) => metricOf(name).label;

function maximumOf(metric, entries = []) {
  const { unit } = metricOf(metric);
  if (unit === "fraction") return 1;
  if (unit === "points") return 100;
  return Math.max(...entries.map((entry) => entry.high ?? entry.value ?? 0), 1e-9);
}

function valueText(value, metric) {
  if (value === null || value === undefined) return "–";
  const { unit } = metricOf(metric);
  if (unit === "fraction") return `${(100 * value).toFixed(1)}${SPACE}%`;
  return unit === "points" ? value.toFixed(1) : value.toPrecision(3);
}

// The bias index is over wrong forecasts; without any it is not defined.
const isUndefined = ({ metric, n, isMeasured }) => isMeasured && metric === "bias_index" && n === 0;

// Return a value as text, with a sign if it is only a lower bound, because many responses were cut off.
function boundText(entry) {
  if (isUndefined(entry)) return "–";
  if (entry.value === null && entry.n) return "not defined";
  const sign = entry.cut_off?.is_lower_bound ? `≥${SPACE}` : "";
  return `${sign}${valueText(entry.value, entry.metric)}`;
}

function upperText(entry) {
  if (!entry.cut_off?.is_lower_bound) return "";
  const { upper, finished } = entry.cut_off;
  const text = `at most ${valueText(upper, entry.metric)}`;
  return finished === null ? text : `${text}; finished ones ${valueText(finished, entry.metric)}`;
}

function correctedText({ corrected, metric }) {
  if (!corrected) return "";
  const value = valueText(corrected.corrected, metric);
  const interval = intervalText({ ...corrected, metric });
  return `${value} (${interval}), corrected by ${count(corrected.labels, "label")}`;
}

function intervalText({ low, high, metric }) {
  if (low === null) return "";
  return `${valueText(low, metric).replace(`${SPACE}%`, "")} to ${valueText(high, metric)}`;
}

function pointsText(value, metric) {
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${valueText(Math.abs(value), metric).replace(`${SPACE}%`, "")}`;
}

const remarksOf = (entry) => [...entry.doubts, ...entry.remarks.map(withLink)];

// Draw a value as a tick, its interval as a line, and up to where it could rise as dots.
function bar({ value, low, high, upper = null }, from, to, text) {
  const x = (number) => 2 + 96 * Math.min(1, Math.max(0, (number - from) / (to - from || 1)));
  const line = (name, start, end, y1 = 6, y2 = 6) =>
    el("line", { class: name, x1: x(start), x2: x(end), y1, y2 });
  const zero = Math.max(0, from);
  const box = { viewBox: "0 0 100 12", preserveAspectRatio: "none" };
  return el(
    "svg",
    { class: "bar", role: "img", "aria-label": text, ...box },
    line("axis", from, to),
    line("axis", zero, zero, 1, 11),
    upper !== null && line("open", value, upper),
    low !== null && line("range", low, high),
    value !== null && line("tick", value, value, 1.5, 10.5),
  );
}

function entryBar(entry, maximum) {
  const upper = entry.cut_off?.is_lower_bound ? entry.cut_off.upper : null;
  const text = [boundText(entry), intervalText(entry)].filter(Boolean).join(", ");
  return bar({ ...entry, upper }, 0, maximum, text);
}

function rankText(place) {
  const { rank, best, worst } = place;
  return best === worst ? `${rank}` : `${rank} (${best} to ${worst})`;
}

// Return the kind of a result, by which lists are filtered, and its text.
function outcomeOf(value, isPoints) {
  if (value === null || value === undefined) return { kind: "unscored", text: "not scored" };
  const share = isPoints ? value / 100 : value;
  const kind = share >= 1 ? "right" : share <= 0 ? "wrong" : "partly";
  if (isPoints) return { kind, text: `${+value.toFixed(1)} of 100 points` };
  return { kind, text: kind === "partly" ? `${Math.round(100 * share)} % right` : kind };
}

const isPointsRun = (run) => metricOf(taskOf(run).headline).unit === "points";
