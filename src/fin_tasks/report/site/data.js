// The document of the page, from the columns that compact.py made of it.

/** Read the page's data: tasks, runs, entries and comparisons as objects that refer to each other. */
function readData() {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const samples = JSON.parse(document.getElementById("samples").textContent);
  const {texts} = raw;
  const runs = rows(raw.runs).map((run, at) => ({
    ...run, at, task: texts[run.task], source: texts[run.source], date: texts[run.date], model: raw.models[run.model].name,
    label: run.label || raw.models[run.model].name, samples: run.samples.replace(/^\.\//, run.path.slice(0, run.path.lastIndexOf("/") + 1)),
    published: texts[run.source] === "published",
  }));
  const metrics = raw.metric_names.map((name) => ({name, ...raw.metrics[name]}));
  const byName = new Map(metrics.map((one) => [one.name, one]));
  const tasks = raw.tasks.map((task, at) => ({...task, at, headline: byName.get(task.headline)}));
  const entries = rows(raw.entries).map((row, at) => {
    const run = runs[row.run];
    return {
      ...row, at, run, task: tasks[row.task], metric: metrics[row.metric], model: raw.models[row.model].name,
      group: raw.group_names[row.group], judge: texts[row.judge], marks: row.marks.map((mark) => texts[mark]),
      published: run.published, label: run.label || run.model,
      series: `${run.label || run.model}${run.published ? ", published" : ""}`,  // of charts: a paper's row is another one
    };
  });
  const comparisons = raw.comparisons.map((found, at) => ({
    ...found, at, task: tasks[found.task], metric: metrics[found.metric], group: raw.group_names[found.group],
    ranks: rows(found.ranks).map((place) => ({...place, run: runs[place.run]})),
    left_out: found.left_out.map((one) => ({...one, run: runs.find((run) => run.id === one.run)})),
    members: new Map(found.members.map((run, place) => [run, place])),
  }));
  return {...raw, samples, runs, metrics, byName, tasks, entries, comparisons};
}

/** Columns to objects; a column that is no list has one value throughout. */
function rows({rows: count, ...columns}) {
  const names = Object.keys(columns);
  return Array.from({length: count}, (_, at) => Object.fromEntries(names.map((name) => [name, cellOf(columns[name], at)])));
}

function cellOf(column, at) {
  return Array.isArray(column) ? column[at] : column;
}

/** Key and value of each fact of a flat list of places in `texts`. */
function facts(data, flat) {
  const found = [];
  for (let at = 0; at < (flat ?? []).length; at += 2) found.push([data.texts[flat[at]], data.texts[flat[at + 1]]]);
  return found;
}

const TELLING = ["limit", "rows", "judge", "rubric", "data", "prompts", "version"];  // what people ask for first

/** Say for people what values of a group have in common: their task, and in what other groups of that task differ. */
function groupTitles(data) {
  if (data.groupTitles) return data.groupTitles;
  const known = new Map(data.entries.filter((one) => one.group).map((one) => [one.group, one.task.task]));
  const found = new Map();
  for (const twins of Map.groupBy(known.keys(), (group) => known.get(group)).values()) {
    const told = new Map(twins.map((group) => [group, new Map(facts(data, data.groups[group]))]));
    const differing = [...new Set([...told.values()].flatMap((of) => [...of.keys()]))]
      .filter((key) => new Set([...told.values()].map((of) => of.get(key))).size > 1);
    const place = (key) => (TELLING.includes(key) ? TELLING.indexOf(key) : TELLING.length);
    differing.sort((a, b) => place(a) - place(b));
    const titles = twins.map((group) => differing.slice(0, 2).map((key) => `${key} ${shortFact(told.get(group).get(key))}`).join(", "));
    twins.forEach((group, at) => {
      const alone = titles.filter((title) => title === titles[at]).length === 1;
      found.set(group, alone ? titles[at] : `${titles[at]}${titles[at] ? ", " : ""}${group.slice(0, 8)}`);
    });
  }
  data.groupTitles = found;
  return found;
}

function shortFact(text) {
  const bare = (text ?? "none").replace(/^"|"$/g, "");
  return /^[0-9a-f]{12,}$/.test(bare) ? bare.slice(0, 8) : bare.length > 24 ? `${bare.slice(0, 24)}…` : bare;
}

/** A value of each key that an attribute of the items has, sorted, for a select. */
function distinct(items, read) {
  return [...new Set(items.map(read))].sort((a, b) => String(a).localeCompare(String(b), "en", {numeric: true}));
}

const BENCHMARKS = new Map([
  ["xfinbench", "XFinBench"], ["mme_finance", "MME-Finance"], ["dynostock", "DynoStock"], ["financemath", "FinanceMath"],
  ["bizbench", "BizBench"],
]);

/** A benchmark's name for people; addresses may name any. */
function benchmarkName(name) {
  return BENCHMARKS.get(name) ?? name;
}

/** What stands for a row of the board: the run's name, and whether a paper published it. */
function rowKey(entry) {
  return `${entry.label}${entry.published ? "\u0000published" : ""}`;
}

/** Whether a search finds a name: every word of it, in any case. */
function matches(name, search) {
  const text = name.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
