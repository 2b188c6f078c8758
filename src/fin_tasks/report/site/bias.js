// The bias index against the size of the window, and what it goes along with.

VIEWS.push({id: "bias", title: "Bias by window", shown: (data) => data.entries.some(isBiasByWindow), draw: drawBias});

function isBiasByWindow(entry) {
  return entry.task.window !== null && entry.metric.name === "bias_index" && entry.value !== null;
}

/** Tasks that differ in nothing but the window. */
function biasFamily(task) {
  return [task.bias, task.task.includes("_text") ? "in words" : "charts", task.arm, task.mode, task.style, task.split, task.variant].filter(Boolean).join(" · ");
}

function drawBias(root, state, data) {
  const families = Map.groupBy(data.entries.filter(isBiasByWindow), (one) => biasFamily(one.task));
  const family = chosenPart(families, state.family, state);
  const names = ["bias_index", "acc"].filter((name) => data.byName.has(name));
  const metric = data.byName.get(names.includes(state.shown) ? state.shown : "bias_index");
  const all = data.entries.filter((one) => one.task.window !== null && one.metric === metric && one.value !== null
    && biasFamily(one.task) === family);
  const found = all.filter(together(state));
  const [chooser, chosen] = modelChooser(distinct(found, (one) => one.series), state);
  root.append(el("form", {class: "filters", on: {submit: (event) => event.preventDefault()}},
    choice("Bias", [...families.keys()].map((name) => [name, name]), family, (next) => setState({family: next, models: ""})),
    choice("Shown", names.map((name) => [name, data.byName.get(name).label]), metric.name, (shown) => setState({shown})),
    togetherTicks(state)), chooser);
  const entries = found.filter((one) => chosen.includes(one.series));
  if (!entries.length) {
    root.append(found.length || !all.length ? el("p", {class: "hint"}, "Nothing to show: choose models above.") : nothingShown(all));
    return;
  }
  const look = looks(chosen);
  const caption = `${metric.label} by reports in the window, ${family}; lines up and down are intervals`;
  root.append(plotLegend(look), figure(caption, (width) => windowLines(entries, look, width, metric)));
  root.append(biasTable(data, found, state));
}

function windowLines(entries, look, width, metric) {
  const scale = metric.unit === "fraction" ? 100 : 1;
  const names = [...look.keys()];
  const aside = (one) => (names.indexOf(one.series) - (names.length - 1) / 2) * 0.12;
  const marks = entries.map((one) => ({
    x: one.task.window + aside(one), y: one.value * scale, low: one.low === null ? null : one.low * scale, high: one.high === null ? null : one.high * scale,
    name: one.series, color: look.get(one.series).color, shape: look.get(one.series).shape, published: one.published,
    title: `${plain(one.series)}, ${one.task.window} reports: ${formatValue(one.value, metric.unit)}`,
  })).sort((a, b) => a.x - b.x);
  const windows = [...new Set(entries.map((one) => one.task.window))].sort((a, b) => a - b);
  return Plot.plot({
    width, height: Math.min(420, Math.max(260, width * 0.6)), marginLeft: 48, marginBottom: 44,
    style: {fontSize: "12px", background: "transparent"},
    x: {label: "Reports in the window", ticks: windows, tickFormat: String, inset: 12},
    y: {label: `${metric.label} ${unitName(metric.unit)}`, grid: true, nice: true, zero: true},
    marks: [
      ...names.map((name) => Plot.line(marks.filter((one) => one.name === name), {x: "x", y: "y", stroke: look.get(name).color, strokeWidth: 1.75})),
      Plot.link(marks.filter((one) => one.low !== null && one.high !== null), {x1: "x", x2: "x", y1: "low", y2: "high", stroke: {value: "color", scale: null}, strokeOpacity: 0.7}),
      ...dotMarks(marks),
    ],
  });
}

function biasTable(data, entries, state) {
  const windows = [...new Set(entries.map((one) => one.task.window))].sort((a, b) => a - b);
  const byRow = new Map();
  for (const entry of entries) {
    const key = rowKey(entry);
    if (!byRow.has(key)) byRow.set(key, {name: entry.label, published: entry.published, cells: new Map()});
    const {cells} = byRow.get(key);
    cells.set(entry.task.window, [...(cells.get(entry.task.window) ?? []), entry]);
  }
  const columns = windows.map((size) => ({
    key: `w${size}`, title: `${size} reports`, numeric: true, sort: (row) => row.cells.get(size)?.[0].value ?? null,
    cell: (row) => valueCell(row.cells.get(size), domainOf(entries[0].metric.unit, entries), null),
    open: (row) => row.cells.has(size) && (() => openDetails(data, row.cells.get(size))),
    className: (row) => (row.cells.get(size)?.[0].marks.length ? "apart" : ""),
  }));
  const model = {key: "model", title: "Model", sort: (row) => row.name, cell: (row) => modelName(row.name, row.published)};
  return grid({caption: "The numbers", columns: [model, ...columns], rows: [...byRow.values()], sort: state.bsort ?? "model", onSort: (bsort) => setState({bsort}, {keep: true})});
}
