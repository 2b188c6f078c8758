// The first view: models as rows, benchmarks as columns. Below it, for each benchmark, its tasks
// and conditions side by side.

const OVERVIEW_TEXT =
  "Each cell has the value, its 95 % interval as a line, and the range of ranks that the " +
  "model may have. There is no overall score: the benchmarks measure different things. ≥ is a lower bound, " +
  "because responses were cut off. All tasks of a benchmark are below the table.";

const SAME_IN_MODES = ["task", "split", "style", "retrieval", "arm"];
const MAXIMUM_FOOTNOTES = 10; // more of them are folded

function showOverview(main) {
  const all = [...new Set(report.files.map((file) => file.model))];
  addModelChoices(all);
  const models = all.filter(isModelChosen);
  const shown = count(benchmarks().length, "benchmark");
  const part = models.length < all.length ? `${models.length} of ` : "";
  const text = `${part}${count(all.length, "model")} on ${shown}`;
  byId("status").textContent = text;
  main.append(el("h2", {}, text), quiet(OVERVIEW_TEXT));
  const columns = mainColumns();
  main.append(...modelTable("Models and benchmarks", columns, models));
  main.append(changesOf() ?? "");
  const plots = columns.map(({ task, metric }) => costPlot(task, metric, models)).filter(Boolean);
  if (plots.length) main.append(more("Cost against score", el("div", { class: "columns" }, plots)));
  for (const name of benchmarks()) main.append(benchmarkDetails(name, models));
}

// Return the columns of the tasks that board.yaml names, else those of the benchmarks.
function mainColumns() {
  const tasks = distinct(report.tasks.filter((task) => task.isMeasured));
  const isOf = (name) => (task) =>
    task.task === name || task.asked === name || task.entries.some(({ run }) => run.task === name);
  const named = report.first_view.map((name) => tasks.find(isOf(name))).filter(Boolean);
  if (!named.length) return benchmarks().flatMap(benchmarkColumns);
  return named.map((task) => {
    const { title } = report.benchmarks[task.benchmark];
    return column(
      task,
      headlineOf(task),
      `${shortName(task)}: ${labelOf(headlineOf(task))}`,
      title,
    );
  });
}

const ownTasks = (name) =>
  distinct(report.tasks.filter((task) => task.benchmark === name && task.isMeasured));

// Return the columns that the benchmark asks for, else the task that most models were asked. If its
// main task, often a group, was not run, the tasks that were run by themselves have columns too.
function benchmarkColumns(name) {
  const { title, overview_tasks, overview_metrics } = report.benchmarks[name];
  const tasks = ownTasks(name);
  // Of the arms of DynoStock the one with the statement comes first.
  const isLater = ({ arm }) => Number(arm !== "signal");
  const find = (wanted) =>
    tasks.filter(({ task }) => task === wanted).sort((a, b) => isLater(a) - isLater(b));
  const [mainTask] = overview_tasks;
  const isMainMissing = mainTask && !find(mainTask).length;
  const separate = isMainMissing ? tasks.filter((task) => task.isWhole) : [];
  const taskNames = new Set([...separate.map(({ task }) => task), ...overview_tasks]);
  const found = [...taskNames].flatMap((name) => modesOf(find(name)));
  const shown = found.length ? found : modesOf(tasks);
  const titles = distinguishing(shown.map(shortName));
  return shown.flatMap((task, index) => {
    const asked = overview_metrics.filter((metric) => task.metrics.includes(metric));
    const metrics = asked.length ? asked : [headlineOf(task)];
    const titleOf = (metric) => `${titles[index]}: ${labelOf(metric)}`;
    return metrics.map((metric) => column(task, metric, titleOf(metric), title));
  });
}

// Return the first task, and its other modes if as many models were asked in them.
function modesOf(tasks) {
  const [first] = tasks;
  const models = (task) => measuredOf(task, headlineOf(task)).length;
  const isMode = (task) =>
    SAME_IN_MODES.every((name) => task[name] === first[name]) && models(task) === models(first);
  return tasks.filter(isMode);
}

function column(task, metric, title, group) {
  const entries = measuredOf(task, metric);
  const { ranks = [] } = comparisonOf(task, metric) || {};
  const places = new Map();
  for (const place of ranks) if (ranks.length > 1) places.set(place.run, place);
  const byModel = new Map();
  for (const entry of entries) if (entry.isShown) byModel.set(entry.run.model, entry);
  const words = title.split(": ")[0].split(", ");
  const rest = shortName(task)
    .split(", ")
    .filter((word) => !words.includes(word));
  const conditions = rest.join(", ");
  const maximum = maximumOf(metric, entries);
  return { task, metric, title, group, byModel, places, maximum, conditions };
}

function modelTable(name, columns, models) {
  const numbers = new Map(); // numbers of footnotes by their text
  const cells = columns.map((source) => {
    const { task, metric, title, group, byModel, places, conditions } = source;
    const href = link({ benchmark: task.benchmark, task: task.asked, measure: metric });
    const about = `Ranks and tests: ${task.name}, ${labelOf(metric)}`;
    return {
      title,
      group,
      label: group ? `${group}, ${title}` : title,
      extra: small(
        conditions && el("span", { class: "conditions" }, conditions),
        el("a", { href, "aria-label": about }, "ranks and tests"),
      ),
      // Without a rank, a value comes last, whatever it is.
      key: (model) => {
        const entry = byModel.get(model);
        return places.size && !places.has(entry?.run.id) ? null : entry?.value;
      },
      note: (model) => noteOf(byModel.get(model)),
      content: (model) => cellOf(source, byModel.get(model), numbers),
    };
  });
  const isMeasured = (model) => columns.some(({ byModel }) => byModel.has(model));
  const rows = models.filter(isMeasured);
  const [first] = columns;
  const entryOf = (model) => first.byModel.get(model) || { value: null };
  const rankOf = (model) => first.places.get(entryOf(model).run?.id)?.rank ?? LAST;
  const byPlace = byValue(first.metric);
  rows.sort((a, b) => rankOf(a) - rankOf(b) || byPlace(entryOf(a), entryOf(b)));
  const model = { title: "Model", key: modelName, content: modelCell };
  const node = table(name, [model, ...cells], rows, { kind: "models" });
  const footnotes = [...numbers].map(([text, number]) =>
    el("li", { value: number }, withLink(text)),
  );
  if (!footnotes.length) return node;
  const listed = el("ol", { class: "quiet" }, footnotes);
  const isLong = footnotes.length > MAXIMUM_FOOTNOTES;
  return [...node, isLong ? more(count(footnotes.length, "note"), listed) : listed];
}

function cellOf({ places, maximum }, entry, footnotes) {
  if (!entry) return null;
  const isRanked = !isUndefined(entry);
  const place = isRanked && places.get(entry.run.id);
  const reasons = isRanked ? [] : entry.remarks;
  const texts = [...entry.doubts, ...reasons, entry.correctionNote].filter(Boolean);
  for (const text of texts) {
    if (!footnotes.has(text)) footnotes.set(text, footnotes.size + 1);
  }
  const numbers = texts.map((text) => footnotes.get(text)).join(", ");
  return [
    strong(boundText(entry)),
    numbers && el("sup", {}, ` ${numbers}`),
    entryBar(entry, maximum),
    place && small(`rank ${rankText(place)}`),
    !place && places.size > 0 && small("not ranked"),
    entry.corrected && small(correctedText(entry)),
  ];
}

// What a cell says when the pointer rests on it.
function noteOf(entry) {
  if (!entry) return null;
  const n = entry.n ? `n = ${entry.n.toLocaleString("en")}` : "n is not known";
  const interval = intervalText(entry) && `95 % interval ${intervalText(entry)}`;
  return [n, interval, entry.run.decoding].filter(Boolean).join("; ");
}

function benchmarkDetails(name, models) {
  const { title, description } = report.benchmarks[name];
  const tasks = ownTasks(name);
  const text = `${title}: tasks and conditions side by side (${tasks.length})`;
  const details = el("details", { class: "fold" }, el("summary", {}, text), quiet(description));
  const fill = () => {
    const titles = distinguishing(tasks.map(shortName));
    const columns = tasks.map((task, index) => column(task, headlineOf(task), titles[index], ""));
    details.append(...modelTable(`${title}: models and tasks`, columns, models));
  };
  details.addEventListener("toggle", fill, { once: true });
  return details;
}

// Leave out what all names say: of "calculations, test questions" and "calculations, own data"
// the first words.
function distinguishing(names) {
  const parts = names.map((name) => name.split(", "));
  const isShared = (part) => parts.every((others) => others.includes(part));
  return parts.map((own) => own.filter((part) => !isShared(part)).join(", ") || own[0]);
}
