// Two models against each other, task by task.

VIEWS.push({id: "duel", title: "Model against model", shown: (data) => data.comparisons.some((one) => one.ranks.length > 1), draw: drawDuel});

function drawDuel(root, state, data) {
  const labels = distinct(data.comparisons.flatMap((one) => one.ranks), (place) => place.run.label);
  const wanted = [state.a, data.baseline, ...labels].filter((label) => labels.includes(label));
  const first = labels.includes(state.a) ? state.a : wanted.find((label) => rivals(data, label).size) ?? wanted[0];
  const known = rivals(data, first);
  const others = labels.filter((label) => label !== first);
  const second = others.includes(state.b) ? state.b : others.find((label) => known.has(label)) ?? others[0];
  const all = duels(data, first, second);
  const variants = distinct(all, (one) => one.comparison.task.variant);
  const usual = boardChoice({}, data).variant;
  const variant = state.variant === "all" || variants.includes(state.variant) ? state.variant : variants.includes(usual) ? usual : variants[0];
  const found = all.filter((one) => variant === "all" || one.comparison.task.variant === variant);
  root.append(duelFilters(data, {first, second, labels, others, known, variants, variant}));
  if (!found.length) {
    root.append(el("p", {class: "note"}, "These two were not compared: they have no task in common, or on those they have they differ in"
      + " data, prompts, judge or limit. In the second list, models without a mark are compared with the first."));
    return;
  }
  root.append(duelScore(data, found, first, second));
  root.append(duelTable(data, found, first, second, state));
  root.append(el("p", {class: "hint"}, "Differences are over the rows that both have scored. Their intervals are each on their own,"
    + " not corrected for the number of pairs; the mark of who is better is."));
}

/** Who was compared with a model at all. */
function rivals(data, label) {
  const found = new Set();
  for (const comparison of data.comparisons) {
    const own = comparison.ranks.filter((place) => place.run.label === label);
    for (const {run} of own.length ? comparison.ranks : []) {
      if (run.label !== label && own.some((place) => pairOf(comparison, place.run, run))) found.add(run.label);
    }
  }
  return found;
}

function duelFilters(data, {first, second, labels, others, known, variants, variant}) {
  const against = [...others.filter((label) => known.has(label)).map((label) => [label, label]),
    ...others.filter((label) => !known.has(label)).map((label) => [label, `${label} (not compared)`])];
  const choose = (a) => setState({a, b: a === second ? first : rivals(data, a).has(second) ? second : ""});
  return el("form", {class: "filters", on: {submit: (event) => event.preventDefault()}},
    choice("Model", labels.map((label) => [label, label]), first, choose),
    choice("against", against, second, (b) => setState({a: first, b})),
    variants.length > 1 ? choice("Scored as", [["all", "All variants"], ...variants.map((name) => [name, name])], variant, (next) => setState({variant: next})) : null,
    el("button", {type: "button", on: {click: () => setState({a: second, b: first})}}, "Swap"));
}

/** In how many comparisons which is better. */
function duelScore(data, found, first, second) {
  const count = (sign) => found.filter((one) => one.winner === sign).length;
  const tasks = new Set(found.map(({comparison: {task}}) => task.title.replace(` · ${task.variant}`, ""))).size;
  const of = tasks === found.length ? counted(found, "task") : `${counted(found, "comparison")} on ${tasks === 1 ? "1 task" : `${tasks} tasks`}`;
  return el("p", {class: "score"},
    el("strong", {}, plain(first)), ` is better in ${count(1)}, `, el("strong", {}, plain(second)), ` in ${count(-1)}; `,
    `in ${count(0)} of ${of} no difference is certain (Holm over all pairs of a task, at ${data.alpha}).`);
}

/** Each comparison that both are in, with the pair seen from the first. */
function duels(data, first, second) {
  return data.comparisons.flatMap((comparison) => {
    const runsOf = (label) => comparison.ranks.filter((place) => place.run.label === label);
    return runsOf(first).flatMap((a) => runsOf(second).map((b) => {
      const pair = pairOf(comparison, a.run, b.run);
      return {comparison, a, b, pair, winner: winner(data, comparison, pair)};
    }));
  }).filter(({pair}) => pair);
}

function duelTable(data, found, first, second, state) {
  const reach = new Map();  // bars of a unit share a scale
  for (const {pair, comparison: {metric}} of found) {
    const most = Math.max(...[pair.low, pair.high, pair.difference].map((end) => Math.abs(end ?? 0)));
    reach.set(metric.unit, Math.max(reach.get(metric.unit) ?? 0, most));
  }
  const value = (place, one) => formatValue(place.value, one.comparison.metric.unit);
  const columns = [
    {key: "task", title: "Task", sort: (one) => comparisonTitle(data, one.comparison), cell: (one) => plain(comparisonTitle(data, one.comparison))},
    {key: "a", title: first, numeric: true, sort: (one) => one.a.value, cell: (one) => value(one.a, one)},
    {key: "b", title: second, numeric: true, sort: (one) => one.b.value, cell: (one) => value(one.b, one)},
    {key: "difference", title: "Difference", numeric: true, sort: (one) => one.pair.difference, cell: (one) => differenceCell(one, reach)},
    {key: "interval", title: "Interval", numeric: true, sort: (one) => one.pair.low,
      cell: ({pair, comparison: {metric}}) => (pair.low === null ? "" : `${formatDifference(pair.low, metric.unit)} to ${formatDifference(pair.high, metric.unit)}`)},
    {key: "p", title: "p", numeric: true, sort: (one) => one.pair.p, cell: (one) => formatP(one.pair.p)},
    {key: "holm", title: "p, Holm", numeric: true, sort: (one) => one.pair.holm, cell: (one) => formatP(one.pair.holm)},
    {key: "n", title: "Rows", numeric: true, sort: (one) => one.pair.n, cell: (one) => formatCount(one.pair.n)},
    {key: "who", title: "Better", sort: (one) => one.winner, cell: (one) => ({1: `▲ ${plain(first)}`, 0: "· not certain", "-1": `▼ ${plain(second)}`}[one.winner]),
      className: (one) => ({1: "better", 0: "", "-1": "worse"}[one.winner])},
  ];
  return grid({caption: `${plain(first)} against ${plain(second)}`, columns, rows: found, sort: state.dsort ?? "", onSort: (dsort) => setState({dsort}, {keep: true})});
}

function differenceCell({pair, comparison: {metric}}, reach) {
  const most = reach.get(metric.unit) || 1;
  return el("span", {class: "value"}, el("span", {class: "figure"}, formatDifference(pair.difference, metric.unit)),
    intervalBar(pair.difference ?? 0, pair.low, pair.high, [-most, most], {zero: 0}));
}
