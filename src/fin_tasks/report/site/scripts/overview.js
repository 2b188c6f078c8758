// The first view: models as rows, benchmarks as columns. Below it, for each benchmark, its tasks
// and conditions side by side.

const OVERVIEW_TEXT =
  "Each cell has the value, its 95 % interval as a line, and the ranks that the model may really " +
  "have. There is no overall score: the benchmarks measure different things. ≥ is a lower bound, " +
  "because responses were cut off. All tasks of a benchmark are below the table.";

function showOverview(main) {
  const models = [...new Set(report.files.map((file) => file.model))];
  const shown = count(benchmarks().length, "benchmark");
  const text = `${count(models.length, "model")} on ${shown}`;
  main.append(el("h2", {}, text), quiet(OVERVIEW_TEXT));
  const columns = benchmarks().flatMap((name) => mainColumns(name));
  main.append(...modelTable("Models and benchmarks", columns, models));
  for (const name of benchmarks()) main.append(benchmarkDetails(name, models));
}

const ownTasks = (name) =>
  distinct(report.tasks.filter((task) => task.benchmark === name && task.isMeasured));

// Return the columns that the benchmark asks for, else the task that most models were asked. If its
// main task, often a group, was not run, the tasks that were run by themselves have columns too.
function mainColumns(name) {
  const { title, overview_tasks, overview_metrics } = report.benchmarks[name];
  const tasks = ownTasks(name);
  const find = (wanted) => tasks.find(({ task }) => task === wanted);
  const [mainTask] = overview_tasks;
  const separate = mainTask && !find(mainTask) ? tasks.filter((task) => task.isWhole) : [];
  const taskNames = new Set([...separate.map(({ task }) => task), ...overview_tasks]);
  const found = [...taskNames].map(find).filter(Boolean);
  const shown = found.length ? found : tasks.slice(0, 1);
  const titles = distinguishing(shown.map(shortName));
  return shown.flatMap((task, index) => {
    const asked = overview_metrics.filter((metric) => task.metrics.includes(metric));
    const metrics = asked.length ? asked : [headlineOf(task)];
    const titleOf = (metric) => `${titles[index]}: ${labelOf(metric)}`;
    return metrics.map((metric) => column(task, metric, titleOf(metric), title));
  });
}

function column(task, metric, title, group) {
  const entries = measuredOf(task, metric);
  const places = new Map();
  for (const { ranks } of comparisonsOf(task, metric)) {
    for (const place of ranks) if (ranks.length > 1) places.set(place.run, place);
  }
  // Of several runs of a model, take one that is ranked, else one with the usual settings.
  const worth = (entry) => 2 * places.has(entry.run.id) - Boolean(entry.doubts.length);
  const byModel = new Map();
  for (const entry of [...entries].sort((a, b) => worth(a) - worth(b))) {
    byModel.set(entry.run.model, entry);
  }
  return { task, metric, title, group, byModel, places, maximum: maximumOf(metric, entries) };
}

function modelTable(name, columns, models) {
  const numbers = new Map(); // numbers of footnotes by their text
  const cells = columns.map((source) => {
    const { task, metric, title, group, byModel } = source;
    const href = link({ benchmark: task.benchmark, task: task.asked, measure: metric });
    const about = `Ranks and tests: ${task.name}, ${labelOf(metric)}`;
    return {
      title,
      group,
      label: group ? `${group}, ${title}` : title,
      extra: small(el("a", { href, "aria-label": about }, "ranks and tests")),
      key: (model) => byModel.get(model)?.value,
      content: (model) => cellOf(source, byModel.get(model), numbers),
    };
  });
  const isMeasured = (model) => columns.some(({ byModel }) => byModel.has(model));
  const rows = models.filter(isMeasured);
  const [first] = columns;
  const entryOf = (model) => first.byModel.get(model) || { value: null };
  rows.sort((a, b) => byValue(first.metric)(entryOf(a), entryOf(b)));
  const model = { title: "Model", key: (name) => name, content: (name) => strong(name) };
  const node = table(name, [model, ...cells], rows, { kind: "models" });
  const footnotes = [...numbers].map(([text, number]) => el("li", { value: number }, text));
  return [...node, footnotes.length > 0 && el("ol", { class: "quiet" }, footnotes)].filter(Boolean);
}

function cellOf({ places, maximum }, entry, footnotes) {
  if (!entry) return null;
  const place = places.get(entry.run.id);
  for (const doubt of entry.doubts) {
    if (!footnotes.has(doubt)) footnotes.set(doubt, footnotes.size + 1);
  }
  const numbers = entry.doubts.map((doubt) => footnotes.get(doubt)).join(", ");
  return [
    strong(boundText(entry)),
    numbers && el("sup", {}, ` ${numbers}`),
    entryBar(entry, maximum),
    place && small(`rank ${rankText(place)}`),
    entry.corrected && small(correctedText(entry)),
  ];
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
