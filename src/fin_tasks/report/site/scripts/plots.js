// Plots, drawn when somebody asks for them: how often programs run against accuracy, and the parts
// of a task as a radar. The numbers of each plot stand below it.

const PLOTS_TEXT =
  "Programs that do not run cannot be right: on the diagonal all programs that ran are right. A radar has " +
  "an axis for each part of a task, from 0 in the middle to the highest possible value at the rim. Small " +
  "differences are seldom certain: the numbers below a plot have intervals.";
const MAXIMUM_LOOKS = 8; // models in a radar, each with a color and a line of its own

async function showPlots(main) {
  const now = nDrawn;
  const whole = distinct(tasksShown().filter((task) => task.isMeasured && task.isWhole));
  const all = [
    ...new Set(whole.flatMap((task) => measuredOf(task, headlineOf(task)).map(plottedModel))),
  ];
  addModelChoices(all);
  main.append(el("h2", {}, "Plots"), quiet(PLOTS_TEXT));
  try {
    await Promise.all(whole.map(loadParts));
  } catch (error) {
    main.append(el("p", {}, error.message));
    return;
  }
  if (now !== nDrawn) return;
  const models = all.filter(isModelChosen);
  const drawn = whole.flatMap((task) => [executionPlot(task, models), ...radarPlots(task, models)]);
  const shown = drawn.filter(Boolean);
  const missing = "No task of these runs has programs, or three parts with a value.";
  main.append(shown.length ? el("div", { class: "plots" }, shown) : el("p", {}, missing));
}

const plottedModel = (entry) => entry.run.model;
const isPlotted = (entry) => entry.isShown && entry.value !== null && entry.n > 0;

// Return the values of a metric by model.
function valuesByModel(task, metric, models) {
  const entries = measuredOf(task, metric).filter(isPlotted);
  const known = entries.filter((entry) => models.includes(plottedModel(entry)));
  return new Map(known.map((entry) => [plottedModel(entry), entry]));
}

// A figure with the numbers of its plot, which a reader may open.
function plotFigure(title, ...content) {
  return el("figure", { class: "plotted" }, el("figcaption", {}, el("h3", {}, title)), content);
}

// --- Programs that ran against accuracy, as in Figure 4a of XFinBench's ACL paper

const EXECUTION = { size: 330, left: 46, right: 24, top: 14, bottom: 40 };

function executionPlot(task, models) {
  if (!["pot", "code"].includes(task.mode)) return null;
  const metric = task.metrics.includes("acc_err") ? "acc_err" : headlineOf(task);
  const rates = valuesByModel(task, "execution_rate", models);
  const points = [];
  for (const [model, entry] of valuesByModel(task, metric, models)) {
    if (rates.has(model)) points.push({ rate: rates.get(model), entry });
  }
  if (!points.length) return null;
  points.sort((a, b) => byValue(metric)(a.entry, b.entry));
  const title = `${task.name}: programs that ran, and ${labelOf(metric)}`;
  return plotFigure(title, executionSvg(points, metric, title), executionList(points));
}

function executionSvg(points, metric, title) {
  const { size, left, right, top, bottom } = EXECUTION;
  const x = (share) => left + share * (size - left - right);
  const y = (share) => size - bottom - share * (size - top - bottom);
  const line = (name, x1, y1, x2, y2) =>
    el("line", { class: name, x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2) });
  const text = (place, content) => el("text", place, content);
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    line("axis", 0, share, 1, share),
    line("axis", share, 0, share, 1),
    text({ x: left - 5, y: y(share) + 3, "text-anchor": "end" }, `${100 * share}${SPACE}%`),
    text(
      { x: x(share), y: size - bottom + 14, "text-anchor": "middle" },
      `${100 * share}${SPACE}%`,
    ),
  ]);
  const dots = points.map(({ rate, entry }, index) => {
    const place = { cx: x(rate.value), cy: y(entry.value), r: 3.5 };
    const isHigh = rate.value > 0.9;
    const anchor = { x: place.cx + (isHigh ? -6 : 6), y: place.cy - 5 };
    const name = el("title", {}, pointText({ rate, entry }));
    return el(
      "g",
      { class: "best" },
      el("circle", place, name),
      text({ ...anchor, "text-anchor": isHigh ? "end" : "start" }, `${index + 1}`),
    );
  });
  const box = { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": title };
  return el(
    "svg",
    { class: "plot", ...box },
    marks,
    line("open", 0, 0, 1, 1),
    dots,
    text({ x: x(0.5), y: size - 6, "text-anchor": "middle" }, "programs that ran"),
    text({ x: left, y: top - 3 }, labelOf(metric)),
  );
}

const pointText = ({ rate, entry }) =>
  `${entry.run.label}: ${boundText(rate)} ran, ${boundText(entry)} right (${intervalText(entry)})`;

function executionList(points) {
  const items = points.map((point) => el("li", {}, pointText(point)));
  return el("ol", { class: "quiet" }, items);
}
