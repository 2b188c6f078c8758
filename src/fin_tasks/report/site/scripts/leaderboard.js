// The leaderboard of one task: who leads and how sure that is, ranks, and published figures.

const MAXIMUM_NAMES = 3; // in a sentence
const LAST = 1e6; // place of runs without a rank

function showTask(main) {
  const tasks = distinct(tasksShown());
  const task = tasks.find((other) => other.asked === choices.task) || tasks[0];
  const options = tasks.map((other) => {
    const group = other.isMeasured ? "Measured runs" : "Published figures only";
    return [other.asked, shortName(other), group];
  });
  addChoice("Task", "task", options, { measure: "" });
  const metric = chooseMeasure(task);
  const comparison = comparisonOf(task, metric);
  const entries = entriesOf(task, metric);
  const measured = entries.filter((entry) => entry.isMeasured);
  const published = entries.filter((entry) => !entry.isMeasured);
  const maximum = maximumOf(metric, entries);
  addModelChoices([...new Set(measured.map((entry) => entry.run.model))]);
  const chosen = measured.filter((entry) => isModelChosen(entry.run.model));
  const models = chosen.map((entry) => entry.run.model);
  const tables = el("div");
  const legend = el("aside", { "aria-label": "How to read this" });
  main.append(el("h2", {}, task.name), el("div", { class: "beside" }, tables, legend));
  if (measured.length) {
    tables.append(leaderSentence(task, metric, comparison));
    const rows = valuesTable("Measured runs", task, metric, chosen, comparison, maximum);
    tables.append(...rows);
    tables.append(...correctedTable(task, metric, chosen));
    tables.append(costPlot(task, metric, models) ?? "");
    tables.append(...figuresOf(task.benchmark));
  } else {
    tables.append(quiet("No run of this report measured this."));
  }
  if (published.length) tables.append(publishedSection(task, metric, published, maximum));
  const meanings = explanations(task, metric, comparison, measured);
  legend.append(el("h3", {}, "How to read this"), definitions(meanings));
}

// Add the choice of a measure, and return the chosen one.
function chooseMeasure(task) {
  const isMeasure = (name) => !metricOf(name).by && !name.endsWith("_std");
  const measures = task.metrics.filter(isMeasure);
  const metric = measures.includes(choices.measure) ? choices.measure : headlineOf(task);
  const labels = measures.map((name) => [name, labelOf(name)]);
  addChoice("Measure", "measure", labels, {}, metric);
  return metric;
}

function publishedSection(task, metric, entries, maximum) {
  const text = "Printed in papers, not measured here, and therefore not ranked.";
  const rows = valuesTable("Published figures", task, metric, entries, null, maximum);
  const heading = el("h3", {}, "Published figures");
  return el("section", { class: "published" }, heading, quiet(text), rows);
}

// Return who leads a task and how sure that is; null if no run is ranked.
function verdictOf(task, metric) {
  const comparison = comparisonOf(task, metric);
  if (!comparison?.ranks.length) return null;
  const [first, ...others] = comparison.ranks;
  const entries = measuredOf(task, metric);
  const ranked = new Set(comparison.ranks.map((place) => place.run));
  const unranked = entries.filter((entry) => !ranked.has(entry.run.id));
  const tied = others.filter((place) => place.rank === first.rank);
  const closest = others.filter((place) => place.best === 1);
  const verdict = {
    name: names([first, ...tied].map((place) => runOf(place.run))),
    entry: entries.find((entry) => entry.run.id === first.run),
    isTied: tied.length > 0,
    isSure: others.length > 0 && !closest.length,
  };
  const after = unranked.length
    ? ` Not ranked: ${names(unranked.map((entry) => entry.run))} (see the notes).`
    : "";
  const close = names(closest.map((place) => runOf(place.run)));
  if (tied.length) verdict.text = `Nobody leads.${after}`;
  else if (!others.length) verdict.text = after || "Only this model was run.";
  else if (closest.length) verdict.text = `Not certain: ${close} may be as good.${after}`;
  else verdict.text = `Clearly ahead of all others.${after}`;
  return verdict;
}

const certainty = (verdict) =>
  el("span", { class: verdict.isSure ? "sure" : "unsure" }, verdict.text);

function names(runs) {
  const labels = runs.map((run) => run.label);
  const text = labels.slice(0, MAXIMUM_NAMES).join(", ");
  const more = labels.length - MAXIMUM_NAMES;
  return more > 0 ? `${text} and ${more} more` : text;
}

// The figures that a report draws of a benchmark, such as measures by window size.
function figuresOf(benchmark) {
  const figures = report.downloads.filter((file) => file.startsWith(`figures/${benchmark}_`));
  const pictures = figures.filter((file) => file.endsWith(".svg"));
  return pictures.map((src) => {
    const name = src.replace(`figures/${benchmark}_`, "").replace(".svg", "");
    const title = `${report.benchmarks[benchmark].title}: figure ${name.replaceAll("_", " ")}`;
    return more(title, el("img", { src, alt: title, loading: "lazy" }));
  });
}

function leaderSentence(task, metric, comparison) {
  const verdict = verdictOf(task, metric);
  if (!verdict) {
    const isHeadline = metric === task.headline;
    const why = isHeadline
      ? "No run can be ranked; the notes say why."
      : `Models are ranked by ${labelOf(task.headline)}; this table is sorted by the value.`;
    return el("p", { class: "lead" }, why);
  }
  const leads = comparison.ranks.length > 1 ? "leads with" : "reaches";
  const verb = verdict.isTied ? "share the first place with" : leads;
  const value = `${boundText(verdict.entry)} (95 % interval ${intervalText(verdict.entry)})`;
  const words = [strong(verdict.name), ` ${verb} ${value}. `, certainty(verdict)];
  return el("p", { class: "lead" }, words);
}

function valuesTable(name, task, metric, entries, comparison, maximum) {
  const places = new Map((comparison?.ranks || []).map((place) => [place.run, place]));
  const noAnswerByRun = new Map();
  for (const entry of entriesOf(task, "no_answer")) noAnswerByRun.set(entry.run.id, entry.value);
  const hasNoAnswers = noAnswerByRun.size > 0 && metric !== "no_answer";
  const placeOf = (entry) => places.get(entry.run.id);
  const rankOf = (entry) => placeOf(entry)?.rank ?? LAST;
  const rows = [...entries].sort((a, b) => rankOf(a) - rankOf(b) || byValue(metric)(a, b));
  const rank = (entry) => placeOf(entry) && rankText(placeOf(entry));
  const noAnswerOf = (entry) => noAnswerByRun.get(entry.run.id);
  const noAnswerText = (entry) => valueText(noAnswerOf(entry), "no_answer");
  const interval = (entry) => [entryBar(entry, maximum), small(intervalText(entry))];
  const hasInterval = (entry) => !isMissing(entry.low);
  const unscored = (entry) => entry.unscored;
  const columns = [
    MODEL,
    { title: "Rank", key: rankOf, content: rank, visible: places.size > 0 },
    valueColumn(metric),
    { title: "95 % interval", content: interval, visible: rows.some(hasInterval) },
    QUESTIONS,
    { ...DECODING, visible: rows.some((entry) => entry.run.decoding) },
    { title: "From", key: paperOf, content: paperOf, visible: rows.some(paperOf) },
    { title: "No answer", key: noAnswerOf, content: noAnswerText, visible: hasNoAnswers },
    { title: "Not scored", key: unscored, content: unscored, visible: rows.some(unscored) },
    remarksColumn(rows),
  ];
  return table(name, columns, rows);
}

// Values that people's labels corrected have ranks of their own.
function correctedTable(task, metric, entries) {
  const comparison = correctedOf(task, metric);
  if (!comparison) return [];
  const places = new Map(comparison.ranks.map((place) => [place.run, place]));
  const rows = entries.filter((entry) => places.has(entry.run.id) && entry.corrected);
  const rankOf = (entry) => places.get(entry.run.id).rank;
  rows.sort((a, b) => rankOf(a) - rankOf(b));
  const columns = [
    MODEL,
    { title: "Rank", key: rankOf, content: (entry) => rankText(places.get(entry.run.id)) },
    { title: labelOf(metric), key: (entry) => entry.corrected.corrected, content: correctedText },
  ];
  const text = "The judge's scores, corrected by people's labels, with ranks of their own.";
  const name = "Corrected by people's labels";
  return [el("h3", {}, name), quiet(text), ...table(name, columns, rows)];
}

function byValue(metric) {
  const sign = metricOf(metric).higher_is_better === false ? -1 : 1;
  return (a, b) => sign * ((b.value ?? -sign * Infinity) - (a.value ?? -sign * Infinity)) || 0;
}

const nameOf = (entry) => entry.run.label;
const paperOf = (entry) => entry.run.paper;
const MODEL = { title: "Model", key: nameOf, content: modelOf };

function modelOf({ run }) {
  if (run.isPublished) return run.label;
  return [strong(run.label), admissionsOf(run.model).map(admissionDetails)];
}

const DECODING = {
  title: "Decoding",
  key: (entry) => entry.run.decoding,
  content: (entry) => (entry.run.decoding ? small(entry.run.decoding) : null),
};
const QUESTIONS = {
  title: "Questions",
  key: (entry) => entry.n,
  content: (entry) => (entry.n ? entry.n.toLocaleString("en") : "unknown"),
};

function valueColumn(metric) {
  const remarks = (entry) => small(upperText(entry), correctedText(entry));
  const content = (entry) => [strong(boundText(entry)), remarks(entry)];
  return { title: labelOf(metric), key: (entry) => entry.value, content, note: noteOf };
}

function remarksColumn(rows) {
  const visible = rows.some((entry) => remarksOf(entry).length);
  return { title: "Notes", content: (entry) => notes(remarksOf(entry)), visible };
}

function explanations(task, metric, comparison, entries) {
  const { description, higher_is_better } = metricOf(metric);
  const direction = higher_is_better === false ? "Lower is better." : "";
  const pairs = [[labelOf(metric), description || direction]];
  pairs.push(["Line and tick", INTERVAL]);
  if (comparison?.ranks.length > 1) pairs.push(["Rank", RANKS], ["Test", testText(comparison)]);
  const judges = new Set(entries.map((entry) => entry.judge).filter(Boolean));
  if (judges.size) pairs.push(["Judge", [...judges].join("; ")]);
  const others = ["no_answer", "unscored", "cut_off"].filter((name) => task.metrics.includes(name));
  for (const name of others) pairs.push([labelOf(name), metricOf(name).description]);
  if (entries.some((entry) => entry.cut_off?.is_lower_bound)) {
    pairs.push(["≥ and dotted line", LOWER_BOUND]);
  }
  return [...new Map(pairs.filter(([, text]) => text))];
}

const INTERVAL =
  "The tick is the value. The line is its 95 % interval: with other questions of this kind, the " +
  "value could be anywhere there.";
const RANKS =
  "In brackets, the range of ranks that a model may have. Two models are told apart only if a test " +
  "on the same questions does so (5 %, Holm's correction).";
const LOWER_BOUND =
  "More than 2 % of the responses were cut off, so the value is a lower bound. The dotted line " +
  "ends where the value would be if they were all right.";

function testText({ test, rows, sources }) {
  const name = test === "t" ? "t test" : test;
  if (sources >= rows) return `${name}.`;
  return `${name}; the questions have ${count(sources, "source")}, each of which is a cluster.`;
}
