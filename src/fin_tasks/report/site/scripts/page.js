// The frame of the page: views and choices.

const VIEWS = {
  board: ["Leaderboard", (main) => (choices.benchmark ? showTask(main) : showOverview(main))],
  compare: ["Compare two", showCompare],
  memory: ["Memorization", showMemorization],
  parts: ["Breakdown", showBreakdown],
  plots: ["Plots", showPlots],
  samples: ["Samples", showSamples],
  questions: ["Questions", showQuestions],
  corrections: ["Corrections", showCorrections],
  runs: ["Runs", showRuns],
};

// Scripts with data call this function.
window.give = (name, text) => {
  if (name === "report") start(JSON.parse(text));
  else receive(name, text);
};

function start(data) {
  openReport(data);
  byId("made").textContent = `Made by fin-tasks ${data.fin_tasks}, ${data.generated.slice(0, 10)}.`;
  const wide = window.matchMedia("(min-width: 701px)");
  wide.onchange = () => {
    byId("menu").open = wide.matches;
  };
  wide.onchange();
  window.onhashchange = draw;
  draw();
}

async function draw() {
  nDrawn += 1;
  const now = nDrawn;
  const main = byId("main");
  main.setAttribute("aria-busy", "true");
  const focusedId = document.activeElement?.id;
  readChoices(VIEWS);
  drawMenu();
  main.replaceChildren();
  if (choices.view !== "corrections") main.append(correctionsLine());
  const [, show] = VIEWS[choices.view];
  const drawn = show(main);
  if (focusedId && document.activeElement?.id !== focusedId) focusAgain(focusedId);
  await drawn; // some views wait for files
  if (now === nDrawn) main.setAttribute("aria-busy", "false");
}

// Draw the names of the views, and the choices that all views have.
function drawMenu() {
  const isEmpty = {
    memory: !report.gaps.length,
    questions: !report.questions,
    corrections: !report.question_corrections.length,
  };
  const views = Object.entries(VIEWS).filter(([view]) => !isEmpty[view]);
  const tabs = views.map(([view, [name]]) => {
    const current = view === choices.view ? "page" : null;
    const href = link({ view, sample: "", question: "", find: "" });
    return el("li", {}, el("a", { id: `view-${view}`, href, "aria-current": current }, name));
  });
  byId("views").replaceChildren(...tabs);
  byId("filters").replaceChildren();
  const titles = benchmarks().map((name) => [name, report.benchmarks[name].title]);
  const all = ["", "All benchmarks of these runs"];
  const reset = { task: "", measure: "", run: "", with: "", sample: "", part: "", question: "" };
  addChoice("Benchmark", "benchmark", [all, ...titles], reset);
  const shown = choices.benchmark ? [choices.benchmark] : benchmarks();
  const named = scorings().map((scoring) => [scoring, scoringName(scoring, shown)]);
  // The questions are measured under one scoring.
  if (choices.view !== "questions") addChoice("Answers scored", "scoring", named);
  const [viewName] = VIEWS[choices.view];
  const title = report.benchmarks[choices.benchmark]?.title || "all benchmarks";
  byId("chosen").textContent = `${viewName}, ${title}: change`;
}

// Focus the element that takes the place of one that was drawn before.
function focusAgain(id) {
  const target = byId(id);
  target?.focus({ preventScroll: true });
  if (target?.type === "search") target.setSelectionRange(target.value.length, target.value.length);
}
