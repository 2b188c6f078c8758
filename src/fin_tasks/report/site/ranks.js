// Ranks with what is not certain about them, and who is better than whom.

VIEWS.push({id: "ranks", title: "Ranks", shown: (data) => data.comparisons.length > 0, draw: drawRanks});

function drawRanks(root, state, data) {
  const found = data.comparisons[Number(state.on)] ?? data.comparisons[0];
  const {metric, ranks} = found;
  root.append(
    el("form", {class: "filters", on: {submit: (event) => event.preventDefault()}},
      choice("Task", data.comparisons.map((one) => [String(one.at), comparisonTitle(data, one)]), String(found.at), (on) => setState({on, rsort: ""}))),
    el("p", {}, plain(comparisonSentence(data, found))),
  );
  const columns = [
    {key: "model", title: "Model", sort: ({run}) => run.label, cell: ({run}) => modelName(run.label, run.published)},
    {key: "rank", title: "Rank", numeric: true, best: "", sort: (one) => one.rank, cell: (one) => String(one.rank)},
    {key: "range", title: "May be", numeric: true, best: "", sort: (one) => one.best, cell: (one) => rankRange(one, ranks.length)},
    {key: "value", title: metric.label, numeric: true, sort: (one) => one.value, cell: (one) => formatValue(one.value, metric.unit, 2)},
    {key: "n", title: "Rows", numeric: true, sort: (one) => one.n, cell: (one) => formatCount(one.n)},
    {key: "unscored", title: "Not scored", numeric: true, sort: (one) => one.unscored, cell: (one) => formatCount(one.unscored)},
  ];
  root.append(grid({caption: `Ranks by ${metric.label}`, columns, rows: ranks, sort: state.rsort ?? "rank", onSort: (rsort) => setState({rsort}, {keep: true})}));
  if (found.left_out.length) {
    root.append(el("h2", {}, `Without a rank (${found.left_out.length})`), el("ul", {}, found.left_out.map(({run, n, reason}) => (
      el("li", {}, el("bdi", {}, plain(run.label)), plain(`: ${reason} (${formatCount(n)} rows scored)`))))));
  }
  if (ranks.length > 1) root.append(el("h2", {}, "Who is better than whom"), matrixHint(found), matrix(data, found));
}

function comparisonTitle(data, found) {
  const twins = data.comparisons.filter((one) => one.task === found.task && one.metric === found.metric);
  const title = `${benchmarkName(found.task.benchmark)}: ${shortTitle(found.task, {benchmark: found.task.benchmark, variant: "all"})}`;
  const of = groupTitles(data).get(found.group);
  return twins.length > 1 && of ? `${title} (${of})` : title;
}

function comparisonSentence(data, found) {
  const {detectable, metric} = found;
  const test = found.test === "McNemar" ? "McNemar's exact test" : "a t-test of the differences";
  const least = detectable.paired === null ? "" : ` With these rows a difference of ${formatValue(detectable.paired, metric.unit)}`
    + `${metric.unit === "fraction" ? " percentage points" : ""} is found ${Math.round(100 * data.power)} times of 100.`;
  const about = found.sources < found.rows ? ` about ${formatCount(found.sources)} sources` : "";
  return `${formatCount(found.rows)} rows${about}; pairs are tested by ${test}${found.clustered ? ", which allows for rows that share a source" : ""},`
    + ` with Holm's correction over all pairs at ${data.alpha}.${least}`;
}

/** The places a model may have, as text and as a line on the scale of all places. */
function rankRange({rank, best, worst}, count) {
  return el("span", {class: "value"}, el("span", {class: "figure"}, best === worst ? String(best) : `${best}–${worst}`),
    intervalBar(rank, best, worst, [1, Math.max(2, count)]));
}

function matrixHint(found) {
  return el("p", {class: "hint"}, `▲ the row is better than the column, ▼ it is worse, · no difference is certain.`
    + ` Numbers are differences${found.metric.unit === "fraction" ? " in percentage points" : ""}; open one to compare the two.`);
}

function matrix(data, found) {
  const runs = found.ranks.map((place) => place.run);
  const columns = runs.map((other, at) => ({
    key: String(other.at), title: `${at + 1}`, note: other.label, numeric: true,
    cell: (run) => matrixCell(data, found, pairOf(found, run, other)),
    className: (run) => {
      if (run === other) return "self";
      return {1: "better", 0: "", "-1": "worse"}[winner(data, found, pairOf(found, run, other))];
    },
    open: (run) => run !== other && (() => setState({view: "duel", a: run.label, b: other.label})),
  }));
  const name = {key: "model", title: "Model", cell: (run) => el("span", {}, `${runs.indexOf(run) + 1}. `, modelName(run.label, run.published))};
  return grid({caption: "Differences of all pairs", columns: [name, ...columns], rows: runs, className: "matrix", width: "5rem"});
}

function matrixCell(data, found, pair) {
  if (!pair) return "";
  const sign = {1: "▲", 0: "·", "-1": "▼"}[winner(data, found, pair)];
  const told = `difference ${formatDifference(pair.difference, found.metric.unit)}, p ${formatP(pair.holm)} after Holm, ${pair.n} rows`;
  return el("span", {title: told}, el("span", {class: "sign"}, sign), formatDifference(pair.difference, found.metric.unit));
}
