// The board: a row for each model, a column for each task, in each cell a value with its interval.

VIEWS.push({id: "board", title: "Leaderboard", shown: () => true, draw: drawBoard});

function drawBoard(root, state, data) {
  const chosen = boardChoice(state, data);
  const tasks = data.tasks.filter((task) => (chosen.benchmark === "all" || task.benchmark === chosen.benchmark)
    && (chosen.variant === "all" || task.variant === chosen.variant));
  const metricOf = (task) => (chosen.metric === "headline" ? task.headline.name : chosen.metric);
  const there = tasks.filter((task) => task.metrics.includes(metricOf(task)));
  const hidden = new Set((state.hide ?? "").split(" ").filter(Boolean).map(Number));
  const columns = there.filter((task) => !hidden.has(task.at));
  const wanted = new Map(columns.map((task) => [task.at, metricOf(task)]));
  const search = state.search ?? "";
  const entries = data.entries.filter((one) => wanted.get(one.task.at) === one.metric.name && (one.value !== null || one.unscored)
    && (chosen.published || !one.published) && matches(one.label, search));
  const together = entries.filter((one) => chosen.mix || !one.marks.length || one.published);
  const apart = entries.filter((one) => !chosen.mix && one.marks.length && !one.published);

  root.append(boardFilters(state, data, chosen), columnChooser(there, hidden, chosen));
  const options = {state, data, columns, chosen, ranks: ranksByCell(data)};
  root.append(boardTable(together, together.some((one) => one.marks.length && !one.published) ? "All values; those with ≠ stand apart" : "Values that may be compared", options));
  if (apart.length) {
    root.append(
      el("h2", {}, "Kept apart"),
      el("p", {class: "hint"}, "These may not be set against the table above, mostly as they differ in data, prompts, judge"
        + " or limit; open a value to read why. No rank or test does."),
      boardTable(apart, "Values kept apart", options),
    );
  }
  root.append(legend(entries));
  announce(`${counted(distinct(together, (one) => one.label), "row")}, ${counted(columns, "column")}`);
}

/** What the address chooses, or else what most of the document's runs are about; of published figures alone, these. */
function boardChoice(state, data) {
  const variant = state.variant ?? mostOf(data, (task) => task.variant, () => true) ?? "all";
  const within = (task) => variant === "all" || task.variant === variant;
  const few = data.tasks.filter(within).length <= 12;
  return {
    variant,
    benchmark: state.benchmark ?? (few ? "all" : mostOf(data, (task) => task.benchmark, within) ?? "all"),
    metric: state.metric ?? "headline",
    published: state.published !== "0",
    mix: state.apart === "mixed",
    perRun: state.per === "run",
    showRanks: state.ranks === "1",
  };
}

/** What most headline values are of: one of a run counts for more than all that papers print. Of equals `robust`, then the first. */
function mostOf(data, read, within) {
  const count = new Map();
  for (const {published, task, metric} of data.entries) {
    if (metric.name === task.headline.name && within(task)) count.set(read(task), (count.get(read(task)) ?? 0) + (published ? 1e-6 : 1));
  }
  return [...count].sort((a, b) => b[1] - a[1] || (b[0] === "robust") - (a[0] === "robust"))[0]?.[0];
}

function boardFilters(state, data, chosen) {
  const benchmarks = distinct(data.tasks, (task) => task.benchmark).map((name) => [name, benchmarkName(name)]);
  const variants = distinct(data.tasks, (task) => task.variant).map((name) => [name, name]);
  const names = new Set(data.tasks.filter((task) => chosen.benchmark === "all" || task.benchmark === chosen.benchmark)
    .flatMap((task) => task.metrics));
  const metrics = data.metrics.filter((one) => names.has(one.name)).map((one) => [one.name, one.label]);
  return el("form", {class: "filters", role: "search", "aria-label": "Filters", on: {submit: (event) => event.preventDefault()}},
    choice("Benchmark", [["all", "All"], ...benchmarks], chosen.benchmark, (benchmark) => setState({benchmark, metric: "", hide: "", sort: ""})),
    choice("Scored as", [["all", "All variants"], ...variants], chosen.variant, (variant) => setState({variant, hide: "", sort: ""})),
    choice("Metric", [["headline", "Headline of each task"], ...metrics], chosen.metric, (metric) => setState({metric, sort: ""})),
    choice("A row for each", [["model", "Model"], ["run", "Run"]], chosen.perRun ? "run" : "model", (per) => setState({per: per === "run" ? per : ""})),
    searchBox("Find models", state.search ?? "", (search) => setState({search}, {replace: true})),
    tick("Published figures", chosen.published, (on) => setState({published: on ? "" : "0"})),
    tick("Mix in what is kept apart", chosen.mix, (on) => setState({apart: on ? "mixed" : ""})),
    tick("Ranks", chosen.showRanks, (on) => setState({ranks: on ? "1" : ""})),
  );
}

function columnChooser(tasks, hidden, chosen) {
  const boxes = tasks.map((task) => tick(plain(shortTitle(task, chosen)), !hidden.has(task.at), (on) => {
    const next = new Set(hidden);
    next[on ? "delete" : "add"](task.at);
    setState({hide: [...next].join(" ")});
  }));
  const open = document.getElementById("columns")?.open ?? false;  // stays open while boxes are ticked
  return el("details", {id: "columns", class: "columns", open}, el("summary", {}, `Columns (${tasks.length - hidden.size} of ${tasks.length})`),
    el("div", {class: "ticks"}, boxes));
}

/** A task's title without what all columns share. */
function shortTitle(task, {benchmark, variant}) {
  let title = task.title;
  if (benchmark !== "all") title = title.replace(benchmarkName(benchmark), "").replace(/^ *·/, "").trim() || "all";
  return variant === "all" ? title : title.replace(` · ${variant}`, "");
}

/** Titles without the parts that all of them have. */
function columnTitles(tasks, chosen) {
  const parts = tasks.map((task) => shortTitle(task, chosen).split(" · "));
  const shared = (part, at) => at > 0 && parts.length > 1 && parts.every((other) => other.includes(part));
  return parts.map((own) => own.filter((part, at) => !shared(part, at)).join(" · "));
}

function boardTable(entries, caption, {state, data, columns, chosen, ranks}) {
  const byRow = new Map();
  for (const entry of entries) {
    const name = chosen.perRun ? entry.label : entry.model;
    const key = `${name}\n${entry.published}`;
    if (!byRow.has(key)) byRow.set(key, {name, published: entry.published, cells: new Map()});
    const {cells} = byRow.get(key);
    cells.set(entry.task.at, [...(cells.get(entry.task.at) ?? []), entry]);
  }
  for (const {cells} of byRow.values()) {
    for (const found of cells.values()) found.sort(preferred);
  }
  const own = new Map();
  for (const entry of entries) {
    if (!own.has(entry.task)) own.set(entry.task, []);
    own.get(entry.task).push(entry);
  }
  const filled = columns.filter((task) => own.has(task));
  const titles = columnTitles(filled, chosen);
  const model = {
    key: "model", title: chosen.perRun ? "Run" : "Model", sort: (row) => row.name, cell: (row) => modelName(row.name, row.published),
  };
  const values = filled.map((task, at) => {
    const [{metric}] = own.get(task);
    const domain = domainOf(metric.unit, own.get(task));
    return {
      key: String(task.at), title: titles[at], numeric: true, best: metric.higher_is_better === false ? "" : "-",
      note: `${task.title}: ${metric.label}`,
      sort: (row) => row.cells.get(task.at)?.[0].value ?? null,
      cell: (row) => valueCell(row.cells.get(task.at), domain, chosen.showRanks ? ranks : null),
      open: (row) => row.cells.has(task.at) && (() => openDetails(data, row.cells.get(task.at))),
      className: (row) => (row.cells.get(task.at)?.[0].marks.length ? "apart" : ""),
    };
  });
  const first = filled[0] && own.get(filled[0])[0].metric;
  const byFirst = first ? `${first.higher_is_better === false ? "" : "-"}${filled[0].at}` : "model";
  if (!byRow.size) return el("p", {class: "hint"}, "Nothing fits these filters.");
  return grid({
    caption, columns: [model, ...values], rows: [...byRow.values()], sort: state.sort || byFirst,
    onSort: (sort) => setState({sort}, {keep: true}), className: "board", width: "7.6rem",
  });
}

/** Of several runs in one cell those that may be compared come first, then the newest. */
function preferred(a, b) {
  return (a.marks.length > 0) - (b.marks.length > 0) || b.run.date.localeCompare(a.run.date);
}

function modelName(name, published) {
  return el("span", {class: "model"}, el("bdi", {}, plain(name)), published ? el("span", {class: "tag"}, "published") : null);
}

function valueCell(found, domain, ranks) {
  if (!found) return el("span", {class: "none"}, "–");
  const [entry] = found;
  const {metric} = entry;
  if (entry.value === null) return el("span", {class: "none", title: `none of ${formatCount(entry.unscored)} rows could be scored`}, "none scored");
  const told = `${formatValue(entry.value, metric.unit)}${entry.low === null ? "" : `, interval ${formatInterval(entry.low, entry.high, metric.unit)}`}`;
  const place = ranks?.get(`${entry.task.at}|${entry.run.at}|${metric.name}`);
  return el("span", {class: "value", title: told},
    el("span", {class: "figure"}, entry.marks.length ? el("span", {class: "mark", title: "stands apart"}, "≠ ") : null,
      formatValue(entry.value, metric.unit),
      entry.unscored ? el("span", {class: "mark", title: `${entry.unscored} rows are not scored`}, "*") : null,
      found.length > 1 ? el("span", {class: "more", title: `${found.length} runs`}, ` ×${found.length}`) : null),
    intervalBar(entry.value, entry.low, entry.high, domain, {published: entry.published}),
    place ? el("span", {class: "rank"}, place.best === place.worst ? `rank ${place.rank}` : `rank ${place.rank} (${place.best}–${place.worst})`) : null,
  );
}

function ranksByCell(data) {
  const found = new Map();
  for (const {task, metric, ranks} of data.comparisons) {
    for (const place of ranks) found.set(`${task.at}|${place.run.at}|${metric.name}`, place);
  }
  return found;
}

function legend(entries) {
  const told = [
    ["dot and line", "value and its interval; a hollow dot is a published figure, which has none"],
    ["≠", "differs from the rest of its column in what must be equal to compare"],
    ["*", "some rows could not be scored and are left out"],
    ["×2", "several runs; the newest is shown"],
  ];
  const units = [...new Set(entries.map((one) => one.metric.unit))].map(unitName).filter(Boolean);
  return el("div", {class: "legend"},
    el("p", {class: "hint"}, `Values are in ${units.join(" or ") || "plain numbers"}. Open a value to see where it comes from.`),
    definitions(told));
}
