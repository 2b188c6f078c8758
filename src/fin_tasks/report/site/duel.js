// Two models against each other, task by task.

VIEWS.push({id: "duel", title: "Model against model", shown: (data) => data.comparisons.some((one) => one.ranks.length > 1), draw: drawDuel});

function drawDuel(root, state, data) {
  const labels = distinct(data.comparisons.flatMap((one) => one.ranks), (place) => place.run.label);
  const first = labels.includes(state.a) ? state.a : labels.includes(data.baseline) ? data.baseline : labels[0];
  const second = labels.includes(state.b) && state.b !== first ? state.b : labels.find((label) => label !== first);
  const options = labels.map((label) => [label, label]);
  root.append(el("form", {class: "filters", on: {submit: (event) => event.preventDefault()}},
    choice("Model", options, first, (a) => setState({a, b: second === a ? first : second})),
    choice("against", options, second, (b) => setState({b, a: first === b ? second : first})),
    el("button", {type: "button", on: {click: () => setState({a: second, b: first})}}, "Swap")));
  const found = duels(data, first, second);
  if (!found.length) {
    root.append(el("p", {class: "hint"}, "These two have no rows in common that may be compared."));
    return;
  }
  const count = (sign) => found.filter((one) => one.winner === sign).length;
  root.append(el("p", {class: "score"},
    el("strong", {}, plain(first)), ` is better in ${count(1)}, `, el("strong", {}, plain(second)), ` in ${count(-1)}; `,
    `in ${count(0)} of ${found.length} no difference is certain (Holm over all pairs of a task, at ${data.alpha}).`));
  root.append(duelTable(data, found, first, second, state));
  root.append(el("p", {class: "hint"}, "Differences are over the rows that both have scored. Their intervals are each on their own,"
    + " not corrected for the number of pairs; the mark of who is better is."));
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
