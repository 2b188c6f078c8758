// Two models on the questions that both were asked.

const COMPARE_TEXT =
  "Only questions that both models were asked. The difference is the first minus the second, with " +
  "its 95 % interval. If you chose the two before you saw results, p counts. If you chose them " +
  "among all models because of their results, the corrected p counts, which is for all pairs.";

async function showCompare(main) {
  const now = nDrawn;
  const tasks = distinct(tasksShown().filter((task) => task.isMeasured));
  const measured = tasks.flatMap((task) => measuredOf(task, headlineOf(task)));
  const models = [...new Set(measured.map((entry) => entry.run.model))];
  if (models.length < 2) {
    const why = "Only one model was run here. Choose another benchmark, or add runs to the report.";
    main.append(el("h2", {}, "Compare two"), el("p", {}, why));
    return;
  }
  const [a, b] = twoModels(models, tasks);
  const option = (name) => [name, modelName(name)];
  const others = models.filter((name) => name !== a);
  addChoice("First model", "a", models.map(option), {}, a);
  addChoice("Second model", "b", others.map(option), {}, b);
  main.append(el("h2", {}, `${modelName(a)} against ${modelName(b)}`), quiet(COMPARE_TEXT));
  let compared;
  try {
    compared = await Promise.all(tasks.map((task) => comparedRow(task, a, b)));
  } catch (error) {
    main.append(el("p", {}, error.message));
    return;
  }
  if (now !== nDrawn) return;
  const rows = compared.filter(Boolean);
  if (!rows.length) {
    main.append(el("p", {}, "These two models share no task."));
    return;
  }
  main.append(...differencesTable(rows, a, b));
  await showDiffering(main, rows, a, b, () => now === nDrawn);
}

// Return the table of both values and their difference, a row for each task.
function differencesTable(rows, a, b) {
  const value = (model, entryOf) => ({
    title: modelName(model),
    content: (row) => boundText(entryOf(row)),
    note: (row) => noteOf(entryOf(row)),
  });
  const columns = [
    { title: "Task", content: (row) => row.task.name },
    value(a, (row) => row.first),
    value(b, (row) => row.second),
    { title: "Difference", content: (row) => differenceOf(row, largestOf(rows, row.metric)) },
    { title: "Result", content: (row) => resultOf(row, a, b) },
    { title: "Questions", content: (row) => questionsOf(row, a) },
  ];
  return table("Differences", columns, rows);
}

// Return the chosen models; by default one's own best and the recorded one next to it, else the two
// that are best in the first task with ranks.
function twoModels(models, tasks) {
  const ranked = mainColumns().map(({ task }) => task);
  const candidates = [...ranked.filter((task) => tasks.includes(task)), ...tasks];
  const best = candidates.flatMap((task) => {
    const { ranks = [] } = comparisonOf(task, headlineOf(task)) || {};
    return ranks.length > 1 ? ranks.map((place) => runOf(place.run).model) : [];
  });
  const usual = [...ownAndNearest(candidates), ...best, ...models];
  const ordered = [choices.a, choices.b, ...usual].filter((name) => models.includes(name));
  const a = models.includes(choices.a) ? choices.a : ordered.find((name) => name !== choices.b);
  return [a, ordered.find((name) => name !== a)];
}

// Return one's own best model of the first task that recorded models are ranked in, too, and the
// recorded model whose value is nearest; nothing without such a task.
function ownAndNearest(tasks) {
  for (const task of tasks) {
    const metric = headlineOf(task);
    const { ranks = [] } = comparisonOf(task, metric) || {};
    const entries = ranks.map(({ run }) =>
      measuredOf(task, metric).find((one) => one.run.id === run),
    );
    const own = entries.find((entry) => entry && !isRecorded(entry.run.model));
    const recorded = entries.filter((entry) => entry && isRecorded(entry.run.model));
    if (!own || !recorded.length) continue;
    const distance = (entry) => Math.abs(entry.value - own.value);
    recorded.sort((a, b) => distance(a) - distance(b));
    return [own.run.model, recorded[0].run.model];
  }
  return [];
}

// Return the largest bound of the differences in a metric's unit.
function largestOf(rows, metric) {
  const isSame = (row) => row.pair && metricOf(row.metric).unit === metricOf(metric).unit;
  const numbers = rows.filter(isSame).flatMap(({ pair }) => [pair.low, pair.high, pair.difference]);
  return Math.max(...numbers.map((number) => Math.abs(number ?? 0)), 1e-6);
}

async function comparedRow(task, a, b) {
  const metric = headlineOf(task);
  const entries = measuredOf(task, metric);
  const { pair, nPairs } = await pairOf(task, metric, a, b);
  const isOf = (name, id) => (entry) =>
    id ? entry.run.id === id : entry.run.model === name && entry.isShown;
  const find = (name, id) => entries.find(isOf(name, id));
  const first = find(a, pair?.first);
  const second = find(b, pair?.second);
  return first && second && { task, metric, pair, nPairs, first, second };
}

// Return the test of two models, turned round if it was made the other way.
async function pairOf(task, metric, a, b) {
  for (const comparison of comparisonsOf(task, metric)) {
    const { ranks } = comparison;
    if (ranks.length < 2) continue;
    const nPairs = (ranks.length * (ranks.length - 1)) / 2;
    const pairs = await loadData(`pairs-${report.comparisons.indexOf(comparison)}`);
    for (const row of pairs) {
      const [first, second] = [report.runs[row[0]], report.runs[row[1]]];
      if (first.model === a && second.model === b) return { pair: pairOfRow(row), nPairs };
      if (first.model === b && second.model === a) return { pair: turned(pairOfRow(row)), nPairs };
    }
  }
  return {};
}

function pairOfRow([a, b, n, difference, low, high, p, p_holm, gained, lost]) {
  const ids = { first: report.runs[a].id, second: report.runs[b].id };
  return { ...ids, n, difference, low, high, p, p_holm, gained, lost };
}

function turned({ first, second, difference, low, high, gained, lost, ...rest }) {
  const minus = (number) => (number === null ? null : -number);
  return {
    ...rest,
    difference: minus(difference),
    low: minus(high),
    high: minus(low),
    gained: lost,
    lost: gained,
    first: second,
    second: first,
  };
}

function differenceOf({ metric, pair }, maximum) {
  if (!pair) return null;
  const bounds = [pair.low, pair.high].map((bound) => pointsText(bound, metric));
  const interval = pair.low === null ? "" : bounds.join(" to ");
  return [
    `${pointsText(pair.difference, metric)} points`,
    bar({ ...pair, value: pair.difference }, -maximum, maximum, interval),
    small(interval),
  ];
}

function resultOf({ metric, pair, nPairs, first, second }, a, b) {
  if (!pair) return notes(reasons(first, second));
  if (pair.low === null && pair.p === 1 && pair.difference) {
    return notes(["not tested: fewer than 10 sources in common"]);
  }
  const isClear = pair.p < report.alpha;
  const isStillClear = pair.p_holm < report.alpha;
  const isMore = pair.difference > 0;
  const better = isMore === (metricOf(metric).higher_is_better !== false) ? a : b;
  const text = isClear ? `${modelName(better)} is better` : "No clear difference";
  const still = isClear && !isStillClear ? ", no longer clear" : "";
  return [
    el("span", { class: isClear ? "sure" : "unsure" }, text),
    small(pText(pair.p)),
    nPairs > 1 && small(`corrected for ${count(nPairs, "pair")}: ${pText(pair.p_holm)}${still}`),
  ];
}

function pText(p) {
  if (p === null) return "p unknown";
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}

const reasons = (...entries) => {
  const doubts = entries.flatMap((entry) => entry.doubts);
  const isFar = "not compared: only the 100 best are";
  return doubts.length ? [...new Set(doubts)] : [isFar];
};

const hasSamples = ({ first, second }) =>
  report.samples[first.run.id] && report.samples[second.run.id];

// Return how many questions the first model gained and lost, with links to them.
function questionsOf(row, a) {
  const { task, pair } = row;
  if (!pair) return null;
  const parts = [pair.n.toLocaleString("en")];
  for (const kind of ["gained", "lost"]) {
    const n = pair[kind];
    if (isMissing(n)) continue;
    const href = sampleLink(row, { show: kind });
    const about = `${count(n, "question")} that ${modelName(a)} ${kind}: ${task.name}`;
    const text = `${kind} ${n.toLocaleString("en")}`;
    parts.push(small(hasSamples(row) ? el("a", { href, "aria-label": about }, text) : text));
  }
  return parts;
}

function sampleLink({ task, first, second }, more) {
  const samples = { run: first.run.id, with: second.run.id, sample: "", part: "", find: "" };
  return link({ view: "samples", benchmark: task.benchmark, ...samples, ...more });
}

// Show the questions of a task on which the two models differ.
async function showDiffering(main, rows, a, b, isCurrent) {
  const candidates = rows.filter((row) => row.pair && hasSamples(row));
  if (!candidates.length) return;
  const options = candidates.map(({ task }) => [task.asked, task.name]);
  const row = candidates.find(({ task }) => task.asked === choices.task) || candidates[0];
  if (options.length > 1) addChoice("Questions of", "task", options, {}, row.task.asked);
  let lists;
  try {
    lists = await Promise.all([row.first.run, row.second.run].map(readList));
  } catch (error) {
    main.append(el("p", {}, error.message));
    return;
  }
  if (!isCurrent()) return;
  const [first, second] = lists;
  const sign = metricOf(row.metric).higher_is_better === false ? -1 : 1;
  const differing = first.id.map((id, index) => {
    const value = first.scores.value[index];
    const other = second.scores.value[second.indexById.get(id)] ?? null;
    const change = value === null || other === null ? 0 : sign * (value - other);
    return { id, asked: first.asked[index], value, other, change };
  });
  const shown = differing.filter(({ change }) => change);
  const text = `Questions on which they differ: ${row.task.name}`;
  main.append(el("h3", {}, text));
  if (shown.length) main.append(...differingTable(shown, row, a, b));
  else main.append(quiet("There are none."));
}

function differingTable(rows, row, a, b) {
  const isPoints = metricOf(row.metric).unit === "points";
  const result = (value) => {
    const { kind, text } = outcomeOf(value, isPoints);
    return el("span", { class: kind }, text);
  };
  const question = ({ id, asked, change }) => {
    const href = sampleLink(row, { sample: id, show: change > 0 ? "gained" : "lost" });
    return el("a", { href }, asked || id, asked && small(id));
  };
  const columns = [
    { title: "Question", key: ({ asked }) => asked, content: question },
    { title: modelName(a), key: ({ value }) => value, content: ({ value }) => result(value) },
    { title: modelName(b), key: ({ other }) => other, content: ({ other }) => result(other) },
  ];
  return table("Questions that differ", columns, rows, { pageSize: 20 });
}
