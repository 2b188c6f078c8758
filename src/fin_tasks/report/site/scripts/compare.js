// Two models on the questions that both were asked.

const COMPARE_TEXT =
  "Only questions that both models were asked. The difference is the first minus the second, with " +
  "its 95 % interval. The result follows from a test that is corrected for all pairs of models, " +
  "so it is stricter than the interval.";

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
  const a = models.includes(choices.a) ? choices.a : models.find((name) => name !== choices.b);
  const others = models.filter((name) => name !== a);
  const b = others.includes(choices.b) ? choices.b : others[0];
  const option = (name) => [name, name];
  addChoice("First model", "a", models.map(option), {}, a);
  addChoice("Second model", "b", others.map(option), {}, b);
  main.append(el("h2", {}, `${a} against ${b}`), quiet(COMPARE_TEXT));
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
  const extremes = rows.flatMap(({ pair }) => (pair ? [pair.low, pair.high].map(Math.abs) : []));
  const maximum = Math.max(...extremes, 1e-6);
  const columns = [
    { title: "Task", content: (row) => row.task.name },
    { title: a, content: (row) => boundText(row.first) },
    { title: b, content: (row) => boundText(row.second) },
    { title: "Difference", content: (row) => differenceOf(row, maximum) },
    { title: "Result", content: (row) => resultOf(row, a, b) },
    { title: "Questions", content: (row) => [`${row.pair?.n ?? "–"}`, differingLink(row, a)] },
  ];
  main.append(...table("Differences", columns, rows));
}

async function comparedRow(task, a, b) {
  const metric = headlineOf(task);
  const entries = measuredOf(task, metric);
  const { pair, nPairs } = await pairOf(task, metric, a, b);
  const find = (name, id) => entries.find(({ run }) => (id ? run.id === id : run.model === name));
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
    for (const pair of pairs) {
      const first = runOf(pair.first).model;
      const second = runOf(pair.second).model;
      if (first === a && second === b) return { pair, nPairs };
      if (first === b && second === a) return { pair: turned(pair), nPairs };
    }
  }
  return {};
}

function turned({ first, second, difference, low, high, ...rest }) {
  const turnedNumbers = { difference: -difference, low: -high, high: -low };
  return { ...rest, ...turnedNumbers, first: second, second: first };
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
  const isClear = pair.p_holm !== null && pair.p_holm < report.alpha;
  const isMore = pair.difference > 0;
  const better = isMore === (metricOf(metric).higher_is_better !== false) ? a : b;
  const text = isClear ? `${better} is better` : "No clear difference";
  return [
    el("span", { class: isClear ? "sure" : "unsure" }, text),
    small(`${pText(pair.p_holm)}, corrected for ${count(nPairs, "pair")}`),
  ];
}

function pText(p) {
  if (p === null) return "p unknown";
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}

const reasons = (...entries) => {
  const doubts = entries.flatMap((entry) => entry.doubts);
  return doubts.length ? [...new Set(doubts)] : ["not compared"];
};

function differingLink({ task, first, second }, a) {
  if (!report.samples[first.run.id] || !report.samples[second.run.id]) return null;
  const samples = { run: first.run.id, with: second.run.id, show: "lost", sample: "" };
  const href = link({ view: "samples", benchmark: task.benchmark, ...samples });
  const name = `Questions that ${a} lost on ${task.name}`;
  return small(el("a", { href, "aria-label": name }, "see what differs"));
}
