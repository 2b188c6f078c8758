// The report, joined from the parts of leaderboard.json, and the reader's choices, which stand in
// the address.
const SCORINGS = { paper: "as the paper's authors score", robust: "by our careful reader" };
let report;
let choices = {};
const runsById = new Map();
const correctionNotes = new Set(); // what values say of corrections of questions
const runOf = (id) => runsById.get(id);

// --- the report

function openReport(data) {
  report = data;
  for (const run of data.runs) openRun(run);
  for (const file of data.files) {
    Object.assign(file, costOf(file.id));
    for (const id of [...file.runs, ...file.members]) {
      runOf(id).file = file;
      file.results_file ||= runOf(id).results_file;
    }
    for (const id of file.members) runOf(id).isMember = true;
  }
  for (const task of data.tasks) {
    task.name = data.names[task.id];
    task.entries = [];
  }
  for (const comparison of data.comparisons) {
    comparison.ranks = comparison.ranks.map(([number, rank, best, worst]) => {
      return { run: data.runs[number].id, rank, best, worst };
    });
  }
  data.entries.forEach(joinEntries);
}

function openRun(run) {
  run.tasks = new Set(); // a task stands in it once for each scoring
  run.isPublished = run.source === "published";
  const { paper, table } = run.provenance || {};
  run.paper = run.isPublished ? [paper, table].filter(Boolean).join(", table ") : "";
  const { name } = report.models[run.model] || {};
  if (name) run.label = run.label.replace(run.model, name);
  runsById.set(run.id, run);
}

// Return tokens, seconds and cost of a result or a file.
function costOf(id) {
  const [tokens_in, tokens_out, seconds, cost, estimated] = report.costs[id] || [];
  return { tokens_in, tokens_out, seconds, cost, estimated: estimated || [] };
}

// What a model is called; board.yaml may name it.
const modelName = (model) => report.models[model]?.name || model;

// Add the entries of a task and metric, which `packed.py` wrote.
function joinEntries([number, metric, rows]) {
  const task = report.tasks[number];
  for (const [runNumber, value, low, high, n, more = {}] of rows) {
    const run = report.runs[runNumber];
    const texts = (numbers = []) => numbers.map((text) => report.texts[text]);
    task.entries.push({
      run,
      metric,
      value,
      low,
      high,
      n,
      isMeasured: !run.isPublished,
      isShown: more.s !== 0,
      group: report.texts[more.g] || "",
      judge: report.texts[more.j] || "",
      doubts: texts(more.d),
      remarks: texts(more.r),
      unscored: more.u || 0,
      cut_off: more.c || null,
      corrected: more.o || null,
      correctionNote: report.texts[more.q] || "",
      uncorrected: more.p ?? null,
    });
    if (more.q !== undefined) correctionNotes.add(report.texts[more.q]);
    run.tasks.add(task);
    task.isMeasured ||= !run.isPublished;
    task.isWhole ||= !run.isPublished && !run.isMember; // asked for itself, not for a group
  }
}

// Load the figures of a task's parts, which the first view does not need.
async function loadParts(task) {
  const number = report.tasks.indexOf(task);
  if (task.hasParts || !report.parts.includes(number)) return;
  const blocks = await loadData(`parts-${number}`);
  if (!task.hasParts) blocks.forEach(joinEntries);
  task.hasParts = true;
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

// The first comparison of a task has the settings of the reference.
const comparisonOf = (task, metric) => comparisonsOf(task, metric)[0];

const correctedOf = (task, metric) => comparisonsOf(task, metric, true)[0];

function comparisonsOf(task, metric, isCorrected = false) {
  const isWanted = (comparison) =>
    comparison.task === task.id &&
    comparison.metric === metric &&
    comparison.is_corrected === isCorrected;
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

// Return what a scoring is called for these benchmarks. Without a paper, it follows house rules.
function scoringName(scoring, names) {
  const hasHouseRules = (name) => report.benchmarks[name]?.has_house_rules;
  if (names.length && names.every(hasHouseRules)) return `by the house rules (${scoring})`;
  if (names.some(hasHouseRules) && scoring === "paper")
    return `${SCORINGS.paper}, or by house rules`;
  return SCORINGS[scoring] || scoring;
}

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

// Add a text to search for.
function addFind(name, reset) {
  const onchange = (event) => go({ ...reset, find: event.target.value });
  const find = el("input", { id: "find", type: "search", value: choices.find || "", onchange });
  byId("filters").append(el("label", {}, name, find));
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
