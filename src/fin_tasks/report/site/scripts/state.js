// The report, joined from the parts of leaderboard.json, and the reader's choices, which stand in
// the address.
const SCORINGS = { paper: "as the paper's authors score", robust: "by our careful reader" };
let report;
let choices = {};
const runsById = new Map();
const runOf = (id) => runsById.get(id);

// --- the report

function openReport(data) {
  report = data;
  for (const run of data.runs) {
    run.tasks = new Set(); // a task stands in it once for each scoring
    run.isPublished = run.source === "published";
    const { paper, table } = run.provenance;
    run.paper = run.isPublished ? [paper, table].filter(Boolean).join(", table ") : "";
    runsById.set(run.id, run);
  }
  for (const file of data.files) {
    const cost = data.costs.find((row) => row.run === file.id);
    Object.assign(file, cost);
    for (const id of [...file.runs, ...file.members]) runOf(id).file = file;
    for (const id of file.members) runOf(id).isMember = true;
  }
  for (const task of data.tasks) {
    task.name = data.names[task.id];
    task.entries = [];
  }
  const tasks = new Map(data.tasks.map((task) => [task.id, task]));
  for (const entry of data.entries) joinEntry(entry, tasks.get(entry.task));
}

function joinEntry(entry, task) {
  entry.run = runOf(entry.run);
  entry.isMeasured = !entry.run.isPublished;
  task.entries.push(entry);
  if (entry.results_file) entry.run.file.results_file = entry.results_file;
  entry.run.tasks.add(task);
  task.isMeasured ||= entry.isMeasured;
  task.isWhole ||= entry.isMeasured && !entry.run.isMember; // asked for itself, not for a group
}

const entriesOf = (task, metric) => task.entries.filter((entry) => entry.metric === metric);
const measuredOf = (task, metric) => entriesOf(task, metric).filter((entry) => entry.isMeasured);

function benchmarks() {
  const measured = new Set();
  for (const task of report.tasks) if (task.isMeasured) measured.add(task.benchmark);
  return Object.keys(report.benchmarks).filter((name) => measured.has(name));
}

function tasksShown() {
  const { benchmark } = choices;
  return report.tasks.filter((task) => !benchmark || task.benchmark === benchmark);
}

// Return the task under the chosen scoring.
function underChosenScoring(task) {
  const isChosen = ({ asked, scoring }) => asked === task.asked && scoring === choices.scoring;
  return report.tasks.find(isChosen) || task;
}

// Return tasks under the chosen scoring, each once: whole tasks first, then by their models.
function distinct(tasks) {
  const byKey = new Map();
  for (const task of tasks) byKey.set(task.asked, underChosenScoring(task));
  const models = (task) => measuredOf(task, headlineOf(task)).length;
  const place = (task) => 2 * !!task.isMeasured + !!task.isWhole;
  return [...byKey.values()].sort((a, b) => place(b) - place(a) || models(b) - models(a));
}
const shortName = (task) => task.name.replace(`${report.benchmarks[task.benchmark].title}, `, "");

// The papers print two accuracies of calculations; the first one is our headline.
function headlineOf(task) {
  const candidates = [task.headline, "acc_em", "acc_err"];
  return candidates.find((metric) => task.metrics.includes(metric)) || task.metrics[0];
}

function comparisonOf(task, metric) {
  const comparisons = comparisonsOf(task, metric);
  comparisons.sort((a, b) => b.ranks.length - a.ranks.length);
  return comparisons[0];
}

function comparisonsOf(task, metric) {
  const isWanted = (comparison) =>
    comparison.task === task.id && comparison.metric === metric && !comparison.is_corrected;
  return report.comparisons.filter(isWanted);
}

const taskOf = (run) => underChosenScoring([...run.tasks][0]);

// Settings are values of JSON.
function settingText(value) {
  return (typeof value === "string" ? value : JSON.stringify(value)) || "none";
}

function settingsOf(entry) {
  const settings = Object.entries(report.groups[entry.group] || {});
  return new Map(settings.map(([name, value]) => [name, settingText(value)]));
}

// --- choices

function readChoices(views) {
  choices = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (!Object.hasOwn(views, choices.view)) choices.view = "board";
  if (!benchmarks().includes(choices.benchmark)) choices.benchmark = "";
  if (!Object.hasOwn(SCORINGS, choices.scoring)) choices.scoring = scorings()[0] || "paper";
}

function scorings() {
  const isScored = (scoring) =>
    report.tasks.some((task) => task.isMeasured && task.scoring === scoring);
  return Object.keys(SCORINGS).filter(isScored);
}

function link(changes) {
  const next = Object.entries({ ...choices, ...changes }).filter(([, value]) => value);
  return `#${new URLSearchParams(next)}`;
}

function go(changes) {
  location.hash = link(changes);
}

// Add a list to choose from; options are value, text and perhaps a group.
function addChoice(name, key, options, reset = {}, chosen = choices[key] || "") {
  const groups = new Map();
  for (const [value, text, group = ""] of options) {
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(el("option", { value, selected: value === chosen }, text));
  }
  const children = [...groups].map(([label, members]) =>
    label ? el("optgroup", { label }, members) : members,
  );
  const onchange = (event) => go({ ...reset, [key]: event.target.value });
  const select = el("select", { id: `choice-${key}`, onchange }, children);
  byId("filters").append(el("label", {}, name, select));
}

// --- files beside the page

let nDrawn = 0; // how often a view was drawn; one that waits for files may be outdated
const files = new Map();
const resolvers = new Map();
const receive = (name, text) => resolvers.get(name)?.(JSON.parse(text));

function loadScript(name) {
  return new Promise((resolve, reject) => {
    const missing = `page/${name} is missing. Keep the folder "page" beside index.html.`;
    const onerror = () => reject(new Error(missing));
    document.head.append(el("script", { src: `page/${name}`, onload: resolve, onerror }));
  });
}

function loadData(name) {
  if (!files.has(name)) {
    const value = new Promise((resolve, reject) => {
      resolvers.set(name, resolve);
      loadScript(`${name}.js`).catch(reject);
    });
    files.set(name, value);
  }
  return files.get(name);
}
