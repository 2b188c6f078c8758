// The document of the page, from the columns that compact.py made of it.

/** Read the page's data: tasks, runs, entries and comparisons as objects that refer to each other. */
function readData() {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const samples = JSON.parse(document.getElementById("samples").textContent);
  const runs = raw.runs.map((run, at) => ({...run, at, published: run.source === "published"}));
  const metrics = raw.metric_names.map((name) => ({name, ...raw.metrics[name]}));
  const tasks = raw.tasks.map((task, at) => ({...task, at, headline: metrics.find((one) => one.name === task.headline)}));
  const data = {...raw, samples, runs, tasks, metrics, byName: new Map(metrics.map((one) => [one.name, one]))};
  data.entries = rows(raw.entries).map((row, at) => {
    const run = runs[row.run];
    return {
      ...row, at, run, task: tasks[row.task], metric: metrics[row.metric], model: raw.models[row.model].name,
      group: raw.group_names[row.group], judge: raw.texts[row.judge], marks: row.marks.map((mark) => raw.texts[mark]),
      published: run.published, label: run.label || run.model,
    };
  });
  data.comparisons = raw.comparisons.map((found, at) => ({
    ...found, at, task: tasks[found.task], metric: metrics[found.metric], group: raw.group_names[found.group],
    ranks: rows(found.ranks).map((place) => ({...place, run: runs[place.run]})),
    columns: found.pairs,  // many; made into objects only where they are shown
  }));
  return data;
}

/** Columns to objects. */
function rows(columns) {
  const names = Object.keys(columns);
  const found = [];
  for (let at = 0; at < (columns[names[0]] ?? []).length; at += 1) {
    found.push(Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  }
  return found;
}

/** Key and value of each fact of a flat list of places in `texts`. */
function facts(data, flat) {
  const found = [];
  for (let at = 0; at < (flat ?? []).length; at += 2) found.push([data.texts[flat[at]], data.texts[flat[at + 1]]]);
  return found;
}

/** The pairs of a comparison, by places of their runs: `first|second`, turned round as well. */
function pairsOf(data, comparison) {
  if (!comparison.pairs.index) {
    const index = new Map();
    for (const pair of rows(comparison.columns)) {
      index.set(`${pair.first}|${pair.second}`, pair);
      const turned = (value) => (value === null ? null : -value);
      index.set(`${pair.second}|${pair.first}`, {
        ...pair, first: pair.second, second: pair.first,
        difference: turned(pair.difference), low: turned(pair.high), high: turned(pair.low),
      });
    }
    comparison.pairs = {index};
  }
  return comparison.pairs.index;
}

/** Which of a pair is better for certain: 1 the first, -1 the second, 0 neither can be told. */
function winner(data, comparison, pair) {
  if (!pair || pair.difference === null || pair.p_holm >= data.alpha || !pair.difference) return 0;
  return Math.sign(pair.difference) * (comparison.metric.higher_is_better === false ? -1 : 1);
}

/** A value of each key that an attribute of the items has, sorted, for a select. */
function distinct(items, read) {
  return [...new Set(items.map(read))].sort((a, b) => String(a).localeCompare(String(b), "en", {numeric: true}));
}

const BENCHMARKS = {
  xfinbench: "XFinBench", mme_finance: "MME-Finance", dynostock: "DynoStock", financemath: "FinanceMath",
  bizbench: "BizBench",
};

/** What stands for a row of the board: the run's name, and whether a paper published it. */
function rowKey(entry) {
  return `${entry.label}${entry.published ? "\u0000published" : ""}`;
}

/** Whether a search finds a name: every word of it, in any case. */
function matches(name, search) {
  const text = name.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
