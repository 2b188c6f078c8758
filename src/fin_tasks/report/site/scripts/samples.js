// The samples of a run: a list to choose from, and one question at a time.

const ROWS_ON_A_PAGE = 50;
const MAXIMUM_ANSWER = 60; // characters
const NO_SAMPLE = "none"; // the list alone
const SHOW = {
  "": "All questions",
  right: "Right",
  partly: "Partly right",
  wrong: "Wrong",
  unscored: "Not scored",
  unread: "No answer read",
  cut: "Cut off",
  pleas: "Talks to the judge",
  disagree: "The two scorings differ",
  authors: "The authors' own score differs",
  gained: "Gained: better than the other run",
  lost: "Lost: worse than the other run",
};

async function showSamples(main) {
  const now = nDrawn;
  main.append(el("h2", {}, "Samples"));
  const isShown = ({ benchmark }) => !choices.benchmark || benchmark === choices.benchmark;
  const runs = report.runs.filter((run) => report.samples[run.id] && isShown(taskOf(run)));
  if (!runs.length) {
    main.append(el("p", {}, "This report holds no samples of these runs."));
    return;
  }
  const run = runs.find(({ id }) => id === choices.run) || runs[0];
  const isOther = (other) => other !== run && taskOf(other).asked === taskOf(run).asked;
  const others = report.runs.filter((other) => report.samples[other.id] && isOther(other));
  const other = others.find(({ id }) => id === choices.with);
  const runOptions = runs.map((option) => [option.id, option.label, taskOf(option).name]);
  addChoice("Run", "run", runOptions, { with: "", sample: "", part: "", show: "" }, run.id);
  const withOptions = others.map(({ id, label }) => [id, label]);
  const alone = ["", "no other run"];
  addChoice("Compare with", "with", [alone, ...withOptions], { sample: "", show: "" });
  try {
    const lists = await Promise.all([run, other].filter(Boolean).map(readList));
    if (now === nDrawn) await showList(main, run, other, lists, () => now === nDrawn);
  } catch (error) {
    main.append(el("p", {}, error.message));
  }
}

// Return the list of a run's samples, with the scores under the chosen scoring.
async function readList(run) {
  const list = await loadData(`list-${run.id}`);
  const names = Object.keys(list.by);
  const scoring = list.by[choices.scoring] ? choices.scoring : names[0];
  const indexById = new Map(list.id.map((id, index) => [id, index]));
  const otherScores = list.by[names.find((name) => name !== scoring)];
  return { ...list, run, indexById, scores: list.by[scoring], otherScores };
}

async function showList(main, run, other, [list, second], isCurrent) {
  addFilters(list, second);
  const rows = rowsOf(list, second, isPointsRun(run));
  const text = `${rows.length.toLocaleString("en")} of ${count(list.id.length, "question")}`;
  byId("status").textContent = text;
  const keys = "The keys j and k go to the next and the previous question.";
  main.append(quiet(`${taskOf(run).name}. ${text}. ${keys}`));
  const isListAlone = choices.sample === NO_SAMPLE;
  const wanted = list.indexById.has(choices.sample) ? choices.sample : rows[0]?.id;
  const id = isListAlone ? undefined : wanted;
  const left = el("div", { class: "list" });
  const right = el("div", { id: "shown" });
  main.append(el("div", { class: id === undefined ? "two" : "two open" }, left, right));
  if (rows.length) left.append(...listTable(rows, run, other, id));
  if (id === undefined) return;
  const position = rows.findIndex((row) => row.id === id);
  const steps = [
    el("a", { id: "back", href: link({ sample: NO_SAMPLE }) }, "Only the list"),
    position > 0 && step("previous", "Previous", rows[position - 1]),
    position >= 0 && rows[position + 1] && step("next", "Next", rows[position + 1]),
  ];
  right.append(el("p", { class: "pages" }, steps));
  const lists = second ? [list, second] : [list];
  await showSample(right, id, lists, isCurrent);
  if (isNarrow() && choices.sample) right.scrollIntoView();
}

const step = (name, text, row) =>
  el("a", { id: `go-${name}`, href: link({ sample: row.id }) }, text);

document.addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
  const isTyping = target instanceof Element && target.matches("input, select, textarea");
  if (choices.view !== "samples" || isTyping || ctrlKey || metaKey || altKey) return;
  if (key === "j") byId("go-next")?.click();
  if (key === "k") byId("go-previous")?.click();
});

function addFilters(list, second) {
  const hidden = new Set();
  if (!second) ["gained", "lost"].forEach((name) => hidden.add(name));
  if (!list.otherScores) hidden.add("disagree");
  if (!list.scores.cut_off.includes(true)) hidden.add("cut");
  if (!list.pleas?.length) hidden.add("pleas");
  if (!list.authors?.some((score) => !isMissing(score))) hidden.add("authors");
  const options = Object.entries(SHOW).filter(([name]) => !hidden.has(name));
  if (hidden.has(choices.show)) choices.show = "";
  addChoice("Show", "show", options, { sample: "" });
  const parts = Object.entries(list.parts).flatMap(partOptions);
  if (parts.length) {
    addChoice("Kind of question", "part", [["", "all"], ...parts], { sample: "" });
  }
  addFind("Find in question, id or answer", { sample: "" });
}

function partOptions([column, values]) {
  const parts = new Set(values.flatMap((value) => value?.split("|") || []));
  const labels = new Map(); // by part
  for (const { by, of, label } of Object.values(report.metrics)) {
    if (by === column && !labels.has(of)) labels.set(of, label);
  }
  const group = report.breakdowns[column] || column;
  const option = (part) => [`${column}:${part}`, labels.get(part) || part, group];
  return [...parts].sort().map(option);
}

function rowsOf(list, second, isPoints) {
  const [column, part] = (choices.part || "").split(/:(.*)/s);
  const words = (choices.find || "").toLowerCase();
  const rows = [];
  list.id.forEach((id, index) => {
    const value = list.scores.value[index];
    const answer = list.scores.answer[index];
    const cut = list.scores.cut_off[index];
    const other = second?.scores.value[second.indexById.get(id)] ?? null;
    const plea = Boolean(list.pleas?.[index]);
    const row = { id, index, value, answer, cut, plea, other, asked: list.asked[index] };
    row.kind = outcomeOf(value, isPoints).kind;
    row.disagree = list.otherScores && list.otherScores.value[index] !== value;
    row.isOtherwise = differsFromAuthors(list.authors?.[index], value);
    const isPart = !column || list.parts[column]?.[index]?.split("|").includes(part);
    const texts = [id, row.asked, answer];
    const isFound = !words || texts.some((text) => text?.toLowerCase().includes(words));
    if (isPart && isFound && isChosen(row, isPoints)) rows.push(row);
  });
  return rows;
}

// Whether the authors of a benchmark scored a recorded response otherwise.
function differsFromAuthors(score, value) {
  return !isMissing(score) && value !== null && Math.abs(score - value) > 1e-6;
}

function isChosen(row, isPoints) {
  const areBoth = row.value !== null && row.other !== null;
  const tests = {
    unread: row.answer === null && !isPoints,
    cut: row.cut,
    pleas: row.plea,
    disagree: row.disagree,
    authors: row.isOtherwise,
    gained: areBoth && row.value > row.other,
    lost: areBoth && row.value < row.other,
  };
  return !choices.show || (tests[choices.show] ?? row.kind === choices.show);
}

function listTable(rows, run, other, id) {
  const isPoints = isPointsRun(run);
  const question = (row) => {
    const href = link({ sample: row.id });
    const attributes = { href, id: `open-${row.index}`, "aria-current": row.id === id && "true" };
    return el("a", attributes, row.asked || row.id, row.asked && small(row.id));
  };
  const result = (value, { cut, plea, isOtherwise }) => {
    const { kind, text } = outcomeOf(value, isPoints);
    const marks = [
      cut && small("cut off"),
      plea && small("talks to the judge"),
      isOtherwise && small("scored otherwise by the authors"),
    ];
    return el("span", { class: kind }, text, marks);
  };
  const columns = [
    { title: "Question", key: (row) => row.asked, content: question },
    {
      title: "Answer read",
      key: (row) => row.answer,
      content: (row) => row.answer?.slice(0, MAXIMUM_ANSWER) ?? "none",
      visible: !isPoints && !other,
    },
    {
      title: other ? run.label : "Result",
      key: (row) => row.value,
      content: (row) => result(row.value, row),
    },
    {
      title: other?.label,
      key: (row) => row.other,
      content: (row) => result(row.other, {}),
      visible: Boolean(other),
    },
  ];
  const first = rows.findIndex((row) => row.id === id);
  return table("Samples", columns, rows, { pageSize: ROWS_ON_A_PAGE, first: Math.max(0, first) });
}
