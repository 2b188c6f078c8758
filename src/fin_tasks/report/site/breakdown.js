// One task by capability, category, image type, ...: a dot plot and its table.

VIEWS.push({id: "breakdown", title: "Capabilities", shown: (data) => data.entries.some(isPart), draw: drawBreakdown});

function isPart(entry) {
  return entry.metric.by && entry.value !== null;
}


function drawBreakdown(root, state, data) {
  const parts = Map.groupBy(data.entries.filter(isPart), (one) => `${one.task.at} ${one.metric.by}`);
  const chosen = chosenPart(parts, state.of, state);
  const title = (one) => `${data.tasks[Number(one.split(" ")[0])].title}: ${one.split(" ")[1].replaceAll("_", " ")}`;
  const found = parts.get(chosen).filter(together(state));
  // XFinBench has one metric by capability, MME-Finance several scores: those of the most common unit share the axis.
  const {unit} = found[0]?.metric ?? {unit: "fraction"};
  const same = found.filter((one) => one.metric.unit === unit);
  const [chooser, names] = modelChooser(distinct(same, (one) => one.series), state);
  root.append(el("form", {class: "filters", on: {submit: (event) => event.preventDefault()}},
    choice("Task and parts", [...parts.keys()].map((one) => [one, title(one)]), chosen, (of) => setState({of, models: ""})),
    togetherTicks(state)), chooser);
  const shown = same.filter((one) => names.includes(one.series));
  if (!shown.length) {
    root.append(found.length ? el("p", {class: "hint"}, "Nothing to show: choose models above.") : nothingShown(parts.get(chosen)));
    return;
  }
  const look = looks(names);
  root.append(plotLegend(look), figure(`${title(chosen)}; lines are intervals, hollow dots published figures`, (width) => dots(shown, look, width, unit)));
  root.append(breakdownTable(data, same, state));
}

function dots(entries, look, width, unit) {
  const parts = distinct(entries, (one) => one.metric.label);
  const names = [...look.keys()];
  const scale = unit === "fraction" ? 100 : 1;
  // Models stand a little above each other, so that their intervals do not hide one another.
  const place = (one) => parts.indexOf(one.metric.label) + (names.indexOf(one.series) + 0.5) / names.length * 0.8 - 0.4;
  const marks = entries.map((one) => ({
    y: place(one), x: one.value * scale, low: one.low === null ? null : one.low * scale, high: one.high === null ? null : one.high * scale,
    color: look.get(one.series).color, shape: look.get(one.series).shape, published: one.published,
    title: `${plain(one.series)}, ${one.metric.label}: ${formatValue(one.value, unit)}`,
  }));
  const margin = Math.min(width * 0.4, 30 + 6.5 * Math.max(...parts.map((part) => part.length)));
  const lineWidth = (margin - 12) / 12;  // in letters' heights: longer labels go on in another line
  return Plot.plot({
    width, height: 60 + parts.length * Math.max(28, 13 * names.length), marginLeft: margin, marginRight: 16,
    style: {fontSize: "12px", background: "transparent"},
    x: {label: unitName(unit), grid: true, nice: true}, y: {domain: [parts.length - 0.5, -0.5], label: null},
    symbol: {range: Plot.symbolsFill, domain: Plot.symbolsFill, type: "ordinal"},
    marks: [
      Plot.axisY(parts.map((_, at) => at), {tickFormat: (at) => parts[at] ?? "", tickSize: 0, label: null, lineWidth}),
      Plot.ruleX([0], {strokeOpacity: 0.4}),
      Plot.link(marks.filter((one) => one.low !== null && one.high !== null), {x1: "low", x2: "high", y1: "y", y2: "y", stroke: (one) => one.color, strokeWidth: 2}),
      ...dotMarks(marks),
    ],
  });
}

/** Dots by colour and shape; those that are published are hollow. */
function dotMarks(marks) {
  const [own, published] = [marks.filter((one) => !one.published), marks.filter((one) => one.published)];
  const shared = {x: "x", y: "y", symbol: {value: "shape", scale: null}, r: 4.5, title: "title"};
  return [
    Plot.dot(own, {...shared, fill: {value: "color", scale: null}, stroke: "var(--paper)", strokeWidth: 0.75}),
    Plot.dot(published, {...shared, fill: "var(--paper)", stroke: {value: "color", scale: null}, strokeWidth: 1.75}),
  ];
}

function breakdownTable(data, entries, state) {
  const parts = distinct(entries, (one) => one.metric.name).map((name) => data.byName.get(name));
  const byRow = new Map();
  for (const entry of entries) {
    const key = rowKey(entry);
    if (!byRow.has(key)) byRow.set(key, {name: entry.label, published: entry.published, cells: new Map()});
    const {cells} = byRow.get(key);
    cells.set(entry.metric.name, [...(cells.get(entry.metric.name) ?? []), entry]);
  }
  const columns = parts.map((metric) => ({
    key: metric.name, title: metric.label, numeric: true, sort: (row) => row.cells.get(metric.name)?.[0].value ?? null,
    cell: (row) => valueCell(row.cells.get(metric.name), domainOf(metric.unit, entries), null),
    open: (row) => row.cells.has(metric.name) && (() => openDetails(data, row.cells.get(metric.name))),
    className: (row) => (row.cells.get(metric.name)?.[0].marks.length ? "apart" : ""),
  }));
  const model = {key: "model", title: "Model", sort: (row) => row.name, cell: (row) => modelName(row.name, row.published)};
  return grid({caption: "The numbers", columns: [model, ...columns], rows: [...byRow.values()], sort: state.bsort ?? "model", onSort: (bsort) => setState({bsort}, {keep: true})});
}
