// Every value, one in a row.

VIEWS.push({id: "values", title: "All values", shown: () => true, draw: drawValues});

const PAGE = 250;  // rows before "show more": thousands of rows at once make any page slow

const FIELDS = [
  ["model", "Model", (one) => one.label],
  ["benchmark", "Benchmark", (one) => benchmarkName(one.task.benchmark)],
  ["task", "Task", (one) => one.task.task],
  ["split", "Split", (one) => one.task.split],
  ["variant", "Scored as", (one) => one.task.variant],
  ["mode", "Mode", (one) => one.task.mode],
  ["style", "Style", (one) => one.task.style],
  ["retrieval", "Retrieval", (one) => one.task.retrieval],
  ["arm", "Arm", (one) => one.task.arm],
  ["judge", "Judge", (one) => one.judge],
  ["metric", "Metric", (one) => one.metric.label],
  ["value", "Value", (one) => one.value],
  ["interval", "Interval", (one) => one.low],
  ["n", "Rows", (one) => one.n],
  ["unscored", "Not scored", (one) => one.unscored],
  ["source", "Source", (one) => one.run.source],
  ["date", "Date", (one) => formatDate(one.run.date)],
  ["group", "Group", (one) => one.group],
  ["marks", "Stands apart", (one) => one.marks.join("; ")],
];

const NUMERIC = new Set(["value", "interval", "n", "unscored"]);
const USUAL = ["model", "task", "variant", "mode", "metric", "value", "interval", "n", "unscored", "source", "marks"];

function drawValues(root, state, data) {
  const shown = new Set(state.fields ? state.fields.split(" ") : USUAL);
  const task = state.task ?? "";
  const filters = {benchmark: state.benchmark ?? "", variant: state.variant ?? "", group: state.group ?? ""};
  const found = data.entries.filter((one) => matches(`${one.label} ${one.task.title} ${one.metric.label}`, state.search ?? "")
    && (!filters.benchmark || filters.benchmark === "all" || one.task.benchmark === filters.benchmark)
    && (!filters.variant || filters.variant === "all" || one.task.variant === filters.variant)
    && (!filters.group || one.group === filters.group)
    && (!task || one.task.task === task)
    && (state.published !== "0" || !one.published)
    && (state.apart !== "0" || !one.marks.length));
  const ordered = sortEntries(found, state.vsort ?? "");
  const count = Math.max(PAGE, Number(state.count ?? PAGE) || PAGE);
  root.append(valueFilters(state, data, filters, task), fieldChooser(shown));
  const columns = FIELDS.filter(([key]) => shown.has(key)).map(([key, title, read]) => ({
    key, title, numeric: NUMERIC.has(key), sort: (one) => blankLast(read(one)), cell: (one) => valueField(data, key, one, read),
    className: (one) => (key === "value" && one.marks.length ? "apart" : ""),
    open: (one) => (key === "value" || key === "model") && (() => openDetails(data, [one])),
  }));
  root.append(grid({
    caption: counted(found, "value"), columns, rows: ordered.slice(0, count), sort: state.vsort ?? "",
    onSort: (vsort) => setState({vsort}, {keep: found.length <= count, replace: true}),
  }));
  if (found.length > count) {
    root.append(el("p", {}, el("button", {type: "button", id: "show-more", on: {click: () => setState({count: count + 4 * PAGE}, {replace: true})}},
      `Show more: ${formatCount(count)} of ${formatCount(found.length)} are shown`)));
  }
  announce(counted(found, "value"));
}

function blankLast(value) {
  return value === "" || value === undefined ? null : value;
}

/** Sort all that was found, not only what is shown. */
function sortEntries(entries, sort) {
  const field = FIELDS.find(([key]) => key === sort.replace(/^-/, ""));
  if (!field) return entries;
  const sign = sort.startsWith("-") ? -1 : 1;
  const keyed = entries.map((one) => [blankLast(field[2](one)), one]);
  keyed.sort(compareBy(([key]) => key, sign));
  return keyed.map(([, one]) => one);
}

function valueField(data, key, one, read) {
  if (key === "model") return modelName(one.label, one.published);
  if (key === "value") {
    if (one.value === null) return "–";
    return el("span", {class: "value"}, el("span", {class: "figure"}, one.marks.length ? "≠ " : null, formatValue(one.value, one.metric.unit, 2)),
      one.metric.unit === "number" ? null : intervalBar(one.value, one.low, one.high, domainOf(one.metric.unit, []), {published: one.published}));
  }
  if (key === "interval") return formatInterval(one.low, one.high, one.metric.unit);
  if (key === "n") return one.n ? formatCount(one.n) : "";
  return plain(read(one) ?? "");
}

function valueFilters(state, data, filters, task) {
  const inBenchmark = data.tasks.filter((one) => ["", "all", one.benchmark].includes(filters.benchmark));
  const all = (label) => ["", label];
  const names = (read, items = data.tasks) => distinct(items, read).map((name) => [name, name]);
  const benchmarks = distinct(data.tasks, (one) => one.benchmark).map((name) => [name, benchmarkName(name)]);
  const known = new Map(data.entries.map((one) => [one.group, one.task.task]));
  const groups = data.group_names.filter((name) => known.has(name) && name)
    .map((name) => [name, [known.get(name), groupTitles(data).get(name)].filter(Boolean).join(": ")])
    .sort(([, a], [, b]) => NAMES.compare(a, b));
  return el("form", {class: "filters", role: "search", "aria-label": "Filters", on: {submit: (event) => event.preventDefault()}},
    choice("Benchmark", [all("All"), ...benchmarks], filters.benchmark, (benchmark) => setState({benchmark, task: ""})),
    choice("Task", [all("All"), ...names((one) => one.task, inBenchmark)], task, (next) => setState({task: next})),
    choice("Scored as", [all("All variants"), ...names((one) => one.variant)], filters.variant, (variant) => setState({variant})),
    choice("Comparable with", [all("Any group"), ...groups], filters.group, (group) => setState({group})),
    searchBox("Find models, tasks, metrics", state.search ?? "", (search) => setState({search}, {replace: true})),
    tick("Published figures", state.published !== "0", (on) => setState({published: on ? "" : "0"})),
    tick("Values that stand apart", state.apart !== "0", (on) => setState({apart: on ? "" : "0"})),
  );
}

function fieldChooser(shown) {
  const open = document.getElementById("columns")?.open ?? false;
  const boxes = FIELDS.map(([key, title]) => tick(title, shown.has(key), (on) => {
    const next = FIELDS.map(([name]) => name).filter((name) => (name === key ? on : shown.has(name)));
    setState({fields: next.join(" ") === USUAL.join(" ") ? "" : next.join(" ") || "value"});
  }));
  return el("details", {id: "columns", class: "columns", open}, el("summary", {}, `Columns (${shown.size} of ${FIELDS.length})`),
    el("div", {class: "ticks"}, boxes));
}
