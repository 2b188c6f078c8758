// Questions that were excluded or corrected, and the values with and without.

const CORRECTIONS_TEXT =
  "Values of this report are over the questions with these corrections. Below is each headline " +
  "beside the value that it has with all questions and the published truths.";

const correctionsLink = (text) =>
  report.question_corrections.length
    ? el("a", { href: link({ view: "corrections", sample: "", question: "" }) }, text)
    : text;

// What values say of corrections of questions leads to their list.
const withLink = (text) => (correctionNotes.has(text) ? correctionsLink(text) : text);

function correctionsShown() {
  const isShown = ({ benchmark }) => !choices.benchmark || benchmark === choices.benchmark;
  return report.question_corrections.filter(isShown);
}

// Say on each view what its values leave out.
function correctionsLine() {
  const shown = correctionsShown();
  if (!shown.length) return "";
  const nExcluded = shown.filter(({ exclude }) => exclude).length;
  const parts = [
    nExcluded && `${count(nExcluded, "question")} excluded`,
    shown.length > nExcluded && `${count(shown.length - nExcluded, "truth")} corrected`,
  ];
  return quiet(correctionsLink(parts.filter(Boolean).join(", ")), ".");
}

function showCorrections(main) {
  main.append(el("h2", {}, "Corrections of questions"), quiet(CORRECTIONS_TEXT));
  const column = (title, field) => {
    return { title, key: (row) => row[field], content: (row) => row[field] || null };
  };
  const decision = (row) => (row.exclude ? "excluded" : `truth ${row.truth}`);
  const columns = [
    { title: "Question", key: (row) => row.id, content: questionLink },
    column("Published truth", "published"),
    { title: "Correction", key: decision, content: decision },
    column("Reason", "reason"),
    column("By", "by"),
    column("Date", "date"),
  ];
  const rows = correctionsShown();
  main.append(...table("Corrections of questions", columns, rows, { pageSize: ROWS_ON_A_PAGE }));
  main.append(el("h3", {}, "Values with and without"), ...bothValues());
}

// An excluded question is in no list any more.
function questionLink(row) {
  const name = [row.id, small(report.benchmarks[row.benchmark].title)];
  if (row.exclude || !report.questions) return name;
  const question = `${row.benchmark}:${row.id}`;
  return el("a", { href: link({ view: "questions", question, look: "all" }) }, name);
}

function bothValues() {
  const tasks = tasksShown().filter((task) => task.scoring === choices.scoring);
  const entries = tasks.flatMap((task) => task.entries);
  const rows = entries.filter((entry) => entry.uncorrected !== null);
  const text = (entry, field) => valueText(entry[field], entry.metric);
  const columns = [
    { title: "Model", key: nameOf, content: nameOf },
    { title: "Task", key: taskName, content: taskName },
    { title: "With", key: ({ value }) => value, content: (entry) => text(entry, "value") },
    {
      title: "Without",
      key: ({ uncorrected }) => uncorrected,
      content: (entry) => text(entry, "uncorrected"),
    },
    { title: "Corrected", content: ({ correctionNote }) => correctionNote },
  ];
  return table("Values with and without corrections", columns, rows);
}

const taskName = (entry) => taskOf(entry.run).name;
