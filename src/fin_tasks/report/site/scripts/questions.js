// The questions, measured by the runs that answered them: those to look at first, and one question with all responses.

const QUESTIONS_TEXT =
  "A rival is the answer other than the truth for which the responses count most. A response counts " +
  "as much as its run is right on the other questions. Where a rival leads, read the question: its " +
  "truth may be wrong. Models share mistakes, so that a large lead proves nothing.";
const LOOK = {
  "": "Those to look at: a rival leads",
  all: "All questions",
  none: "No right response",
  against: "Better runs are right less often",
};
const MAXIMUM_TEXT = 40; // characters of a truth or a rival in the table

async function showQuestions(main) {
  const now = nDrawn;
  main.append(el("h2", {}, "Questions"));
  if (!report.questions) {
    main.append(el("p", {}, "No response of these runs is right or wrong by a rule."));
    return;
  }
  try {
    const questions = await readQuestions();
    if (now !== nDrawn) return;
    addQuestionFilters(questions);
    const rows = questions.rows.filter(isQuestionChosen);
    const row = questions.rows.find(({ key }) => key === choices.question);
    if (row) await showQuestion(main, row, rows, () => now === nDrawn);
    else main.append(...questionList(rows, questions.rows));
  } catch (error) {
    main.append(el("p", {}, error.message));
  }
}

// Return the rows of the table in the order of their lead, with the questions' first words.
async function readQuestions() {
  const columns = await loadData("questions");
  const lists = columns.titled_by.filter((run) => report.samples[run]);
  const samples = await Promise.all(lists.map((run) => loadData(`list-${run}`)));
  const asked = new Map();
  lists.forEach((run, number) => {
    const { benchmark } = taskOf(runOf(run));
    samples[number].id.forEach((id, index) => {
      const place = { list: samples[number], index };
      asked.set(`${benchmark}:${id}`, place);
    });
  });
  const names = Object.keys(columns).filter((name) => columns[name].length === columns.look.length);
  const rows = columns.look.map((_, place) => {
    const row = Object.fromEntries(names.map((name) => [name, columns[name][place]]));
    row.key = `${row.benchmark}:${row.question}`;
    row.place = place;
    row.asked = asked.get(row.key);
    row.title = row.asked ? row.asked.list.asked[row.asked.index] : "";
    return row;
  });
  return { rows, runs: columns.runs };
}

function addQuestionFilters({ rows }) {
  const isOfBenchmark = (row) => !choices.benchmark || row.benchmark === choices.benchmark;
  const shown = rows.filter(isOfBenchmark);
  const tasks = [...new Set(shown.flatMap((row) => row.tasks.split(", ")))];
  if (!tasks.includes(choices.asked)) choices.asked = "";
  if (tasks.length > 1) {
    const options = tasks.map((task) => [task, task]);
    addChoice("Task", "asked", [["", "all tasks"], ...options], { question: "" });
  }
  if (!shown.some((row) => row.look) && !choices.look) choices.look = "all";
  addChoice("Show", "look", Object.entries(LOOK), { question: "" });
  addFind("Find in question, id, truth or rival", { question: "" });
}

function isQuestionChosen(row) {
  const tests = { all: true, none: row.right === 0, against: row.separates < 0 };
  const isLook = tests[choices.look] ?? row.look;
  const isOfBenchmark = !choices.benchmark || row.benchmark === choices.benchmark;
  const isOfTask = !choices.asked || row.tasks.split(", ").includes(choices.asked);
  const words = (choices.find || "").toLowerCase();
  const texts = [row.title, row.question, row.truth, row.rival];
  const isFound = !words || texts.some((text) => text?.toLowerCase().includes(words));
  return isLook && isOfBenchmark && isOfTask && isFound;
}

function questionList(rows, all) {
  const nLook = all.filter((row) => row.look).length;
  const text =
    `${rows.length.toLocaleString("en")} of ${count(all.length, "question")} shown. ` +
    `On ${nLook.toLocaleString("en")} a rival of the truth leads.`;
  byId("status").textContent = text;
  return [quiet(text), quiet(QUESTIONS_TEXT), ...questionTable(rows)];
}

function questionTable(rows) {
  const question = (row) => {
    const href = link({ question: row.key });
    const name = row.title || row.question;
    return el("a", { href }, name, row.title && small(`${row.question}, ${row.tasks}`));
  };
  const title = { title: "Question", key: (row) => row.title, content: question };
  return table("Questions", [title, ...measures()], rows, { pageSize: ROWS_ON_A_PAGE });
}

// The columns of what is measured.
function measures() {
  const column = (title, field, content) => {
    return { title, key: (row) => row[field], content };
  };
  return [
    { title: "Truth", content: (row) => answerText(row.truth) },
    { title: "Rival", content: (row) => row.rival && answerText(row.rival) },
    column("Distance", "distance", (row) => row.distance || null),
    column("Given by", "given_by", (row) => row.rival && `${row.given_by} of ${row.responses}`),
    column(
      "Models",
      "models_giving",
      (row) => row.rival && `${row.models_giving} of ${row.models}`,
    ),
    column("Lead", "lead", leadContent),
    column("Right", "right", (row) => `${Math.round(100 * row.right)}${SPACE}%`),
    column("Separates", "separates", (row) => row.separates?.toFixed(2)),
  ];
}

// A row cannot be sorted.
function measuresOf(row) {
  const columns = measures().map(({ title, content }) => ({ title, content }));
  const id = { title: "Question", content: () => row.question };
  return table(`What is measured of ${row.question}`, [id, ...columns], [row]);
}

function leadContent({ lead, for_rival, for_truth }) {
  if (lead === null) return null;
  return [lead.toFixed(2), small(`${for_rival.toFixed(2)} less ${(for_truth ?? 0).toFixed(2)}`)];
}

// Numbers have six digits in the table.
function answerText(text) {
  const number = Number(text);
  const isNumber = text && text.trim() && Number.isFinite(number);
  return isNumber ? String(Number(number.toPrecision(6))) : (text || "").slice(0, MAXIMUM_TEXT);
}

async function showQuestion(main, row, rows, isCurrent) {
  const position = rows.findIndex(({ key }) => key === row.key);
  const turn = (name, other) => other && el("a", { href: link({ question: other.key }) }, name);
  const steps = [
    el("a", { id: "back", href: link({ question: "" }) }, "All questions"),
    turn("Previous", rows[position - 1]),
    position >= 0 && turn("Next", rows[position + 1]),
  ];
  const { runs, scoring } = await loadData("questions");
  const answers = await loadData(`answers-${Math.floor(row.place / report.chunk)}`);
  const asked = row.asked && (await askedText(row.asked));
  if (!isCurrent()) return;
  const [numbers, texts, values, weights] = answers[row.place % report.chunk];
  const responses = numbers.map((number, index) => {
    const run = runOf(runs[number]);
    return { run, answer: texts[index], value: values[index], weight: weights[index] };
  });
  const article = { class: "sample", "aria-label": `Question ${row.question}` };
  main.append(
    el("p", { class: "pages" }, steps),
    el(
      "article",
      article,
      asked ? questionOf({ ...asked, truth: "" }) : el("h3", {}, row.question),
    ),
    quiet(
      row.look ? `Place ${row.place + 1} of those to look at.` : "No rival of the truth leads.",
    ),
    ...measuresOf(row),
    el("h3", {}, "Responses"),
    ...responseTable(row, responses, scoring),
  );
}

async function askedText({ list, index }) {
  const chunk = Math.floor(index / report.chunk);
  const questions = await loadData(`asked-${list.files[chunk]}`);
  return questions[index % report.chunk];
}

function responseTable(row, responses, scoring) {
  const name = ({ run }) => run.label;
  const open = (response) => {
    const { run } = response;
    if (!report.samples[run.id]) return run.label;
    const sample = { view: "samples", benchmark: row.benchmark, run: run.id, scoring };
    const reset = { question: "", look: "", find: "", asked: "", show: "", part: "", with: "" };
    const href = link({ ...reset, ...sample, sample: row.question });
    return [el("a", { href }, run.label), small(taskOf(run).name)];
  };
  const result = ({ value }) => {
    const { kind, text } = outcomeOf(value, false);
    return el("span", { class: kind }, text);
  };
  const columns = [
    { title: "Model", key: name, content: open },
    { title: "Answer read", key: ({ answer }) => answer, content: ({ answer }) => answer },
    { title: "Result", key: ({ value }) => value, content: result },
    {
      title: "Right on the other questions",
      key: ({ weight }) => weight,
      content: ({ weight }) => (weight === null ? null : `${Math.round(100 * weight)}${SPACE}%`),
    },
  ];
  return table(`Responses to ${row.question}`, columns, responses, { pageSize: ROWS_ON_A_PAGE });
}
