// The results files: settings, judges, tokens and costs, and what could not be used.

const HARNESSES = {
  replay: "saved responses, scored again",
  judge: "judged predictions",
  verify: "a submission, scored again",
};

function showRuns(main) {
  const isShown = (task) => !choices.benchmark || task.benchmark === choices.benchmark;
  const files = report.files.filter((file) => tasksOf(file).some(isShown));
  const rows = files.map((file) => {
    return { ...file, tasks: tasksOf(file), judge: judgesOf(file) };
  });
  const models = new Set(rows.map((file) => file.model)).size;
  const text =
    `${count(rows.length, "results file")} of ${count(models, "model")}. A run is one results ` +
    "file: one model, asked one or more tasks. ≈ marks numbers that are estimated from the " +
    "length of the texts.";
  main.append(el("h2", {}, "Runs"), quiet(text));
  main.append(...runsTable(rows));
  const problems = report.problems.map((problem) => problem.message);
  const published = report.runs.filter((run) => run.isPublished && [...run.tasks].some(isShown));
  const papers = new Set(published.map((run) => run.provenance.paper));
  main.append(...list("Files that could not be used in full", problems));
  main.append(...list("Notes", report.notes));
  main.append(...list("Sources of published figures", [...papers]));
  main.append(...list("Files of this report", report.downloads.map(downloadLink)));
  main.append(el("h3", {}, "Settings"), ...rows.map(settingsDetails));
}

function judgesOf(file) {
  const isOwn = (entry) => entry.judge && entry.run.file?.id === file.id;
  return [...new Set(report.entries.filter(isOwn).map((entry) => entry.judge))].join("; ");
}

function tasksOf(file) {
  const runs = file.runs.map(runOf).filter((run) => run.tasks.size);
  return runs.map(taskOf);
}

function runsTable(rows) {
  const has = (field) => rows.some((file) => file[field]);
  const column = (title, field, content, visible = true) => {
    return { title, key: (file) => file[field], content, visible };
  };
  const amounts = [
    ["Tokens in", "tokens_in"],
    ["Tokens out", "tokens_out"],
    ["Seconds", "seconds"],
    [`Cost, ${report.prices?.currency}`, "cost"],
  ];
  const columns = [
    column("Model", "model", fileLink),
    column("Date", "date", (file) => file.date.slice(0, 10) || "unknown"),
    column("From", "harness", ({ harness }) => HARNESSES[harness] || harness),
    { title: "Tasks", content: taskNames },
    column("Questions", "rows", questionsText),
    column("Judge", "judge", (file) => file.judge || null, has("judge")),
    ...amounts.map(([title, field]) =>
      column(title, field, (file) => amountText(file, field), has(field)),
    ),
  ];
  return table("Runs", columns, rows);
}

const taskNames = (file) =>
  [...new Set(file.tasks.map((task) => task.name))].map((name) => el("div", {}, name));

function questionsText(file) {
  const asked = file.rows.toLocaleString("en");
  return file.rows_all > file.rows ? `${asked} of ${file.rows_all.toLocaleString("en")}` : asked;
}

function amountText(file, field) {
  if (file[field] === null) return "unknown";
  const digits = field === "cost" ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 };
  const sign = file.estimated.includes(field) ? "≈ " : "";
  return `${sign}${file[field].toLocaleString("en", digits)}`;
}

// A folder's name may be anything; "./" keeps it a path.
function fileLink({ model, results_file: file }) {
  if (!file) return model;
  const href = `./${file.split("/").map(encodeURIComponent).join("/")}`;
  const link = el("a", { href, "aria-label": `Results file of ${model}` }, "results file");
  return [model, small(link)];
}

const downloadLink = (file) => el("a", { href: file, download: true }, file);

function settingsDetails(file) {
  const settings = Object.entries(file.settings);
  const own = definitions(settings.map(([name, value]) => [name, settingText(value)]));
  const tasks = tasksOf(file).map((task) => {
    const isOwn = (entry) => entry.run.file?.id === file.id;
    const entry = measuredOf(task, headlineOf(task)).find(isOwn);
    return entry?.group && [el("h4", {}, task.name), definitions([...settingsOf(entry)])];
  });
  return more(`${file.model}, ${file.path}`, own, tasks);
}
