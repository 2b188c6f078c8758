// The runs by kind of question.

const BREAKDOWN_TEXT =
  "The same runs by kind of question, with 95 % intervals in small print. They are wide where " +
  "there are few questions, and they are not corrected for the number of parts.";

async function showBreakdown(main) {
  const now = nDrawn;
  main.append(el("h2", {}, "Breakdown"), quiet(BREAKDOWN_TEXT));
  const tasks = distinct(tasksShown().filter((task) => task.isMeasured));
  const whole = tasks.filter((task) => task.isWhole);
  try {
    await Promise.all(whole.map(loadParts));
  } catch (error) {
    main.append(el("p", {}, error.message));
    return;
  }
  if (now !== nDrawn) return;
  const shown = whole.flatMap(partTables).filter(Boolean);
  if (shown.length) main.append(...shown.flat());
  else main.append(el("p", {}, "These runs have no parts to break down by."));
}

// Return a table for each column that a task breaks down by.
function partTables(task) {
  return [...partMetrics(task)].map(([by, metrics]) => {
    const columns = metrics.map((metric) => [labelOf(metric), entriesOf(task, metric)]);
    return partsTable(`${task.name}: ${report.breakdowns[by] || by}`, columns);
  });
}

// Return the metrics of a task's parts by what it breaks down by: those of the headline, if there are any.
function partMetrics(task) {
  const metricsBy = new Map();
  for (const metric of task.metrics) {
    const { by } = metricOf(metric);
    if (by) metricsBy.set(by, [...(metricsBy.get(by) || []), metric]);
  }
  for (const [by, metrics] of metricsBy) {
    const isOfHeadline = (metric) => metric === `${task.headline}_${metricOf(metric).of}`;
    const ofHeadline = metrics.filter(isOfHeadline);
    if (ofHeadline.length) metricsBy.set(by, ofHeadline);
  }
  return metricsBy;
}

// Return a table of models and parts; null if no run of this report has a value.
function partsTable(title, columns) {
  const rows = new Map();
  columns.forEach(([, entries], index) => {
    for (const entry of entries) {
      const name = entry.isMeasured ? entry.run.label : `${entry.run.label} (published)`;
      if (!rows.has(name)) rows.set(name, { isMeasured: entry.isMeasured, entries: [] });
      rows.get(name).entries[index] ??= entry;
    }
  });
  const hasValue = (row) => row.isMeasured && row.entries.some((entry) => entry?.value !== null);
  if (![...rows.values()].some(hasValue)) return null;
  const sorted = [...rows].sort(([, a], [, b]) => b.isMeasured - a.isMeasured);
  const body = sorted.map(([name, row]) => ({ ...row, name }));
  const parts = columns.map(([label], index) => ({
    title: label,
    key: (row) => row.entries[index]?.value,
    note: (row) => noteOf(row.entries[index]),
    content: (row) => partCell(row.entries[index]),
  }));
  const model = { title: "Model", key: (row) => row.name, content: (row) => row.name };
  return [el("h3", {}, title), ...table(title, [model, ...parts], body)];
}

function partCell(entry) {
  if (!entry || entry.value === null) return null;
  const questions = entry.n ? count(entry.n, "question") : "";
  const text = [intervalText(entry), questions].filter(Boolean).join("; ");
  const maximum = maximumOf(entry.metric, [entry]);
  return [strong(boundText(entry)), entryBar(entry, maximum), small(text)];
}
