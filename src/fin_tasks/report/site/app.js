"use strict";
// Texts of models and strangers' files become text nodes and nothing else: no HTML is made of strings here.
(() => {
  const VIEWS = { board: "Leaderboard", compare: "Compare two", parts: "Breakdown", samples: "Samples", runs: "Runs" };
  const SCORINGS = { paper: "as the paper's authors score", robust: "by our careful reader" };
  const MEASURES = {
    acc: "Share of questions answered correctly.",
    acc_em: "Share of calculations with exactly the right number.",
    acc_err: "Share of calculations that are right within the margin of the paper.",
    score: "Mean of the judge's points, 0 to 100.",
    bias_index: "Of the wrong answers, the share that follow the biased statement; lower is better.",
    bias_percentage: "Share of all questions on which the model followed the biased statement and was wrong.",
    follows_signal: "Share of answers that follow the biased statement, right or wrong.",
    signal_probability: "Mean stated probability that the biased statement comes true.",
    mean_probability: "Mean stated probability of a rise.",
    brier: "Mean squared error of stated probabilities; 0 is best.",
    ece: "Distance between stated probabilities and what came true; 0 is best.",
    no_answer: "Share of responses in which no answer was found. They count as wrong.",
    cut_off: "Share of responses that reached the limit of tokens, or whose reasoning never ended. Most of them count as wrong.",
    unscored: "Share of responses that could not be scored, for example because a judge failed. They count neither way.",
    read_by_model: "Share of responses in which the rules found no answer and a model looked for one.",
    execution_rate: "Share of programs that ran and gave a result.",
    exact: "Share of answers that equal the reference.",
  };
  // The benchmarks name their own columns.
  const BY = { table: "Question with or without a table" };
  const HARNESSES = { replay: "saved responses, scored again", judge: "judged predictions", published: "paper" };
  const SHOW = {
    "": "All questions", right: "Right", wrong: "Wrong", unscored: "Not scored", unread: "No answer read", cut: "Cut off", disagree: "The two scorings differ",
    gained: "Gained: better than the other run", lost: "Lost: worse than the other run",
  };
  const PAGE = 50;
  let D, ofRun, state = {}, drawn = 0;
  const files = new Map(), waiting = new Map(), $ = (id) => document.getElementById(id);

  window.give = (name, text) => {
    const value = JSON.parse(text);
    if (name === "report") start(value);
    else waiting.get(name)?.(value);
  };

  function load(name) {
    if (!files.has(name)) files.set(name, new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = el("script", { src: `page/${name}.js` });
      script.onerror = () => { files.delete(name); reject(new Error(`page/${name}.js is missing. Keep the folder "page" beside index.html.`)); };
      document.head.append(script);
    }));
    return files.get(name);
  }

  function el(tag, facts = {}, ...inside) {
    const svg = ["svg", "line", "circle"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(facts)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...inside.flat(9).filter((one) => one !== null && one !== undefined && one !== "" && one !== false));
    return made;
  }

  // --- what the report holds

  function start(data) { // joins what leaderboard.json keeps apart
    D = data;
    Object.assign(BY, D.breakdowns);
    ofRun = new Map(D.runs.map((run) => [run.id, Object.assign(run, { tasks: new Set() })])); // a task for each scoring
    for (const file of D.files) {
      Object.assign(file, D.costs.find((cost) => cost.run === file.id));
      for (const id of [...file.runs, ...file.members]) ofRun.get(id).file = file;
      for (const id of file.members) ofRun.get(id).member = true;
    }
    for (const run of D.runs) run.paper = isPublished(run) ? [run.provenance.paper, run.provenance.table].filter(Boolean).join(", table ") : "";
    for (const task of D.tasks) Object.assign(task, { name: D.names[task.id], key: task.id.replace(`/${task.variant}`, ""), entries: [] });
    const ofTask = new Map(D.tasks.map((task) => [task.id, task]));
    for (const entry of D.entries) {
      const task = ofTask.get(entry.task), run = ofRun.get(entry.run);
      entry.run = run;
      task.entries.push(entry);
      run.tasks.add(task);
      task.own ||= isOwn(entry);
      task.whole ||= isOwn(entry) && !run.member;
    }
    $("theme").value = document.documentElement.dataset.theme = kept("theme") || "";
    $("theme").onchange = () => { document.documentElement.dataset.theme = $("theme").value; keep("theme", $("theme").value); };
    $("made").textContent = `Made by fin-tasks ${D.fin_tasks}, ${D.generated.slice(0, 10)}.`;
    const wide = window.matchMedia("(min-width: 701px)");
    wide.onchange = () => { $("menu").open = wide.matches; };
    wide.onchange();
    window.onhashchange = draw;
    draw();
  }

  const kept = (name) => { try { return localStorage.getItem(`fin-tasks-${name}`); } catch { return ""; } };
  const keep = (name, value) => { try { localStorage.setItem(`fin-tasks-${name}`, value); } catch { /* some browsers forbid it on disk */ } };

  const entriesOf = (task, metric) => task.entries.filter((one) => one.metric === metric);
  const isPublished = (run) => run.source === "published", isOwn = (entry) => !isPublished(entry.run);
  const tasksShown = () => D.tasks.filter((task) => !state.benchmark || task.benchmark === state.benchmark);
  const benchmarks = () => Object.keys(D.benchmarks).filter((name) => D.tasks.some((task) => task.own && task.benchmark === name));
  const scored = (task) => D.tasks.find((one) => one.key === task.key && one.variant === state.scoring) || task;

  function distinct(tasks) { // one task for each key, under the chosen scoring; groups before their members, most models first
    const found = new Map(), models = (task) => entriesOf(task, headlineOf(task)).filter(isOwn).length;
    for (const task of tasks) found.set(task.key, scored(task));
    return [...found.values()].sort((a, b) => !!b.own - !!a.own || !!b.whole - !!a.whole || models(b) - models(a));
  }

  // The paper's figures of calculations have two accuracies; ours, `acc`, equals the first.
  function headlineOf(task, entries = null) {
    const has = (metric) => (entries || task.metrics).includes(metric);
    return [task.headline, "acc_em", "acc_err"].find(has) || task.metrics[0];
  }

  function comparisonOf(task, metric) {
    const found = D.comparisons.filter((one) => one.task === task.id && one.metric === metric);
    return found.sort((a, b) => b.ranks.length - a.ranks.length)[0];
  }

  function number(value, metric) {
    if (value === null || value === undefined) return "–";
    const unit = D.metrics[metric]?.unit;
    return unit === "fraction" ? `${(100 * value).toFixed(1)}\u00a0%` : unit === "points" ? value.toFixed(1) : value.toPrecision(3);
  }

  // A value of which many responses were cut off is at least what it is.
  const atLeast = (one) => `${one.cut_off?.is_lower_bound ? "≥\u00a0" : ""}${number(one.value, one.metric)}`;
  const finished = (one) => one.cut_off?.is_lower_bound && [
    `at most ${number(one.cut_off.upper, one.metric)}`,
    one.cut_off.finished === null ? "" : `finished ones ${number(one.cut_off.finished, one.metric)}`,
  ].filter(Boolean).join("; ");
  const remarks = (one) => [...one.marks, ...one.notes];
  const range = (one, metric = one.metric) => (one.low === null ? "" : `${number(one.low, metric).replace("\u00a0%", "")} to ${number(one.high, metric)}`);
  const label = (metric) => D.metrics[metric]?.label || metric;
  const baseOf = (metric) => ["acc_em", "acc_err", "acc", "score"].find((base) => metric === base || metric.startsWith(`${base}_`)) || metric;

  function bar(low, value, high, from, to, text, upper = null) { // upper: of a value that is a lower bound
    const x = (one) => 2 + 96 * Math.min(1, Math.max(0, (one - from) / (to - from || 1)));
    const zero = from < 0 ? x(0) : 2;
    const made = el("svg", { class: "bar", viewBox: "0 0 100 12", preserveAspectRatio: "none", role: "img", "aria-label": text });
    made.append(el("line", { class: "axis", x1: 2, x2: 98, y1: 6, y2: 6 }), el("line", { class: "axis", x1: zero, x2: zero, y1: 1, y2: 11 }));
    if (upper !== null) made.append(el("line", { class: "open", x1: x(value), x2: x(upper), y1: 6, y2: 6 }));
    if (low !== null) made.append(el("line", { class: "range", x1: x(low), x2: x(high), y1: 6, y2: 6 }));
    if (value !== null) made.append(el("line", { class: "dot", stroke: "currentColor", "stroke-width": 1.6, x1: x(value), x2: x(value), y1: 1.5, y2: 10.5 }));
    return made;
  }

  function scale(entries, metric) {
    const unit = D.metrics[metric]?.unit;
    return unit === "fraction" ? 1 : unit === "points" ? 100 : Math.max(...entries.map((one) => one.high ?? one.value ?? 0), 1e-9);
  }

  // --- frame

  function draw() {
    const before = document.activeElement?.id;
    state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (!Object.hasOwn(VIEWS, state.view)) state.view = "board";
    if (!benchmarks().includes(state.benchmark)) state.benchmark = benchmarks().length === 1 ? benchmarks()[0] : "";
    if (!Object.hasOwn(SCORINGS, state.scoring)) state.scoring = D.tasks.some((task) => task.variant === "paper" && task.own) ? "paper" : "robust";
    drawn += 1;
    $("views").replaceChildren(...Object.entries(VIEWS).map(([view, name]) =>
      el("li", {}, el("a", { id: `view-${view}`, href: link({ view, sample: "" }), "aria-current": view === state.view ? "page" : null }, name))));
    const names = [["", "All benchmarks of these runs"], ...benchmarks().map((name) => [name, D.benchmarks[name]])];
    const filters = [choice("Benchmark", "benchmark", names, { task: "", measure: "", run: "", with: "", sample: "", part: "" })];
    const variants = Object.keys(SCORINGS).filter((variant) => D.tasks.some((task) => task.own && task.variant === variant));
    filters.push(choice("Answers scored", "scoring", variants.map((variant) => [variant, SCORINGS[variant]])));
    $("filters").replaceChildren(...filters);
    $("main").replaceChildren();
    $("chosen").textContent = `${VIEWS[state.view]}, ${D.benchmarks[state.benchmark] || "all benchmarks"}: change`;
    ({ board, compare, parts, samples, runs })[state.view]($("main"));
    if (before && document.activeElement?.id !== before) $(before)?.focus({ preventScroll: true });
  }

  function link(changes) {
    const next = { ...state, ...changes };
    return `#${new URLSearchParams(Object.entries(next).filter(([, value]) => value))}`;
  }

  const go = (changes) => { location.hash = link(changes); };

  function choice(name, key, options, reset = {}) {
    const groups = new Map();
    for (const [value, text, group = ""] of options) {
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(el("option", { value, selected: value === (state[key] || "") }, text));
    }
    const inside = [...groups].map(([group, own]) => (group ? el("optgroup", { label: group }, own) : own));
    return el("label", {}, name, el("select", { id: `choice-${key}`, onchange: (event) => {
      go({ ...reset, [key]: event.target.value });
    } }, inside));
  }

  function grid(host, name, rows, columns, options = {}) {
    const place = el("div", { "aria-label": name });
    host.append(place);
    const fold = { width: 58, headerSort: false, responsive: 0, title: "More", formatter: more };
    const table = new Tabulator(place, {
      data: rows, layout: "fitColumns", headerSortTristate: true, index: "at", columnDefaults: { vertAlign: "middle", headerHozAlign: "left" },
      ...(narrow() ? { responsiveLayout: "collapse", responsiveLayoutCollapseStartOpen: false } : {}),
      columns: narrow() && columns.some((one) => one.responsive) ? [...columns, fold] : columns, ...options,
    });
    table.on("tableBuilt", () => {
      place.querySelector(".tabulator-tableholder").removeAttribute("tabindex"); // a grid may hold rows only
      for (const head of place.querySelectorAll(".tabulator-col-sorter-element")) {
        head.tabIndex = 0;
        head.addEventListener("keydown", (event) => { if (event.key === "Enter") head.click(); });
      }
    });
  }

  function more(given) { // opens what a narrow screen has no columns for
    const open = (event) => {
      const rest = given.getRow().getElement().querySelector(".tabulator-responsive-collapse");
      rest.style.display = rest.style.display ? "" : "none";
      event.currentTarget.setAttribute("aria-expanded", String(!rest.style.display));
    };
    return el("button", { type: "button", "aria-label": "More", "aria-expanded": "false", onclick: open }, "+");
  }

  const narrow = () => window.innerWidth <= 700;
  const cell = (make) => (given) => { const made = make(given.getRow().getData()); return made instanceof Node ? made : String(made ?? "") && el("span", {}, String(made)); };
  const notes = (texts) => el("span", {}, texts.map((text) => el("span", { class: "note" }, text)).flatMap((one) => [one, " "]));

  // --- leaderboard

  function board(main) {
    if (!state.benchmark) return overview(main);
    const tasks = distinct(tasksShown());
    const task = tasks.find((one) => one.key === state.task) || tasks[0];
    $("filters").append(choice(
      "Task", "task",
      tasks.map((one) => [one.key, one.name.replace(`${D.benchmarks[one.benchmark]}, `, ""), one.own ? "Measured runs" : "Published figures only"]),
      { measure: "" }
    ));
    const measures = task.metrics.filter((metric) => !D.metrics[metric].by && !metric.endsWith("_std"));
    const metric = measures.includes(state.measure) ? state.measure : headlineOf(task);
    $("filters").append(choice("Measure", "measure", measures.map((one) => [one, label(one)])));
    $("choice-task").value = task.key;
    $("choice-measure").value = metric;
    main.append(el("h2", {}, task.name), el("p", { class: "quiet" }, `${D.about[task.benchmark]} Answers are scored ${SCORINGS[task.variant]}.`));
    const all = entriesOf(task, metric), own = all.filter(isOwn), papers = all.filter((one) => !isOwn(one));
    const found = comparisonOf(task, metric);
    const sides = el("div"), legend = el("aside", { "aria-label": "How to read this" });
    main.append(el("div", { class: "beside" }, sides, legend));
    if (own.length) {
      sides.append(lead(task, metric, found));
      boardTable(sides, task, metric, own, found, all);
    }
    if (papers.length) {
      const box = el("section", { class: "published", "aria-label": "Published figures" });
      sides.append(box);
      box.append(el("h3", {}, "Published figures"), el("p", { class: "quiet" }, "Printed in papers, not measured here, and therefore not ranked."));
      boardTable(box, task, metric, papers, null, all);
    }
    legend.append(el("h3", {}, "How to read this"), el("dl", {}, explain(task, metric, found, own)));
  }

  function explain(task, metric, found, own) {
    const told = [[label(metric), MEASURES[metric] || (D.metrics[metric].higher_is_better === false ? "Lower is better." : "")]];
    told.push(["Line and tick", "The tick is the value. The line is its 95 % interval: the value could be anywhere there if other questions of this kind were asked."]);
    if (found?.ranks.length > 1) {
      told.push([
        "Rank",
        "In brackets, the ranks that a model may really have: models are only told apart if a test of the same questions does so (5 %, Holm's correction)."
      ]);
      told.push([
        "Test",
        `${found.test === "t" ? "t test" : found.test}${found.sources < found.rows ? `; questions share ${found.sources.toLocaleString("en")} sources, and those of one source count as a cluster` : ""}.`
      ]);
    }
    if (own.some((one) => one.judge)) told.push(["Judge", [...new Set(own.map((one) => one.judge))].filter(Boolean).join("; ")]);
    if (task.metrics.includes("no_answer") && metric !== "no_answer") told.push(["No answer", MEASURES.no_answer]);
    if (own.some((one) => one.unscored)) told.push(["Not scored", MEASURES.unscored]);
    if (own.some((one) => one.cut_off)) told.push(["Cut off", MEASURES.cut_off]);
    if (own.some((one) => one.cut_off?.is_lower_bound)) told.push([
      "≥ and dotted line",
      "More than 2 % of the responses were cut off, so the value is a lower bound. The dotted line ends where it would be if they were all right."
    ]);
    return told.filter(([, text]) => text).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]);
  }

  function verdict(task, metric, found) {
    const named = (rank) => ofRun.get(rank.run).label;
    if (!found || !found.ranks.length) return null;
    const [first, ...others] = found.ranks, close = others.filter((one) => one.best === 1).map(named);
    const entry = entriesOf(task, metric).find((one) => one.run.id === first.run);
    const open = others.filter((one) => one.best_if_finished === 1 && one.best > 1).map(named);
    const some = (names) => names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
    const ranked = new Set(found.ranks.map((one) => one.run));
    const apart = entriesOf(task, metric).filter((one) => isOwn(one) && !ranked.has(one.run.id)).map((one) => one.run.label);
    const more = apart.length ? ` Not ranked: ${some(apart)} (see the notes).` : "";
    if (!others.length) return { name: named(first), entry, sure: false, text: apart.length ? more : "Only this model was run." };
    if (open.length) return { name: named(first), entry, sure: false, text: `Not certain: responses were cut off, and ${some([...close, ...open])} may be ahead.${more}` };
    if (!close.length) return { name: named(first), entry, sure: true, text: `Clearly ahead of all others.${more}` };
    return { name: named(first), entry, sure: false, text: `Not certain: ${some(close)} may be as good.${more}` };
  }

  function lead(task, metric, found) {
    const said = verdict(task, metric, found);
    if (!said) return el(
      "p", { class: "lead" },
      metric === task.headline ? "No run can be ranked; the notes say why." : "Models are ranked by accuracy only; this table is sorted by the value."
    );
    const verb = found.ranks.length > 1 ? " leads with " : " reaches ";
    return el("p", { class: "lead" }, el("strong", {}, said.name), verb, atLeast(said.entry), ` (95 % interval ${range(said.entry)}). `,
      el("span", { class: said.sure ? "sure" : "unsure" }, said.text));
  }

  function boardTable(host, task, metric, entries, found, all) {
    const ranks = new Map((found?.ranks || []).map((one) => [one.run, one]));
    const silent = new Map(entriesOf(task, "no_answer").map((one) => [one.run.id, one.value]));
    const down = D.metrics[metric].higher_is_better === false ? -1 : 1, most = scale(all, metric), published = !isOwn(entries[0]);
    const rows = entries.map((one, at) => ({ ...one, at, rank: ranks.get(one.run.id)?.rank ?? 1e6, silent: silent.get(one.run.id), name: one.run.label }))
      .sort((a, b) => a.rank - b.rank || down * ((b.value ?? -1e9) - (a.value ?? -1e9)));
    const span = (one) => {
      const r = ranks.get(one.run.id);
      if (!r) return "–";
      const sure = r.best === r.worst ? `${r.rank}` : `${r.rank} (${r.best} to ${r.worst})`;
      const open = r.best_if_finished < r.worst_if_finished;
      return el("span", {}, sure, open && el("span", { class: "small" }, "may change"));
    };
    grid(host, published ? "Published figures" : "Measured runs", rows, [
      ...(ranks.size ? [{ title: "Rank", field: "rank", width: 92, formatter: cell(span), responsive: 0 }] : []),
      { title: "Model", field: "name", minWidth: narrow() ? 100 : 130, widthGrow: 2, responsive: 0, formatter: cell((one) => one.name) },
      { title: label(metric), field: "value", width: 105, responsive: 0, formatter: cell((one) => el(
        "span", {}, el("strong", {}, atLeast(one)), narrow() && el("span", { class: "small" }, range(one)),
        finished(one) && el("span", { class: "small" }, finished(one))
      )) },
      { title: "95 % interval", field: "low", minWidth: 150, widthGrow: 2, headerSort: false, responsive: published ? 5 : 1, visible: !published,
        formatter: cell((one) => el(
          "div", {}, bar(one.low, one.value, one.high, 0, most, `${atLeast(one)}, ${range(one)}`, one.cut_off?.is_lower_bound ? one.cut_off.upper : null),
          el("span", { class: "small" }, range(one))
        )) },
      { title: "Questions", field: "n", width: 122, responsive: 3, formatter: cell((one) => (one.n ? one.n.toLocaleString("en") : "unknown")) },
      { title: "No answer", field: "silent", width: 105, responsive: 3, visible: silent.size > 0 && !published && metric !== "no_answer", formatter: cell((one) => number(one.silent, "no_answer")) },
      { title: "Not scored", field: "unscored", width: 110, responsive: 3, visible: entries.some((one) => one.unscored), formatter: cell((one) => one.unscored) },
      { title: "From", field: "run.paper", minWidth: 150, widthGrow: 2, responsive: 2, visible: published, formatter: cell((one) => one.run.paper) },
      {
        title: "Notes", field: "marks", minWidth: 170, widthGrow: 2, headerSort: false, responsive: 2,
        visible: entries.some((one) => remarks(one).length), formatter: cell((one) => notes(remarks(one)))
      },
    ]);
  }

  function overview(main) {
    const models = new Set(D.files.map((one) => one.model)).size;
    main.append(el(
      "p", { class: "lead" },
      `${count(D.files.length, "run")} of ${count(models, "model")} on ${count(benchmarks().length, "benchmark")}. Who leads, and how sure that is:`
    ));
    for (const name of benchmarks()) {
      const tasks = distinct(D.tasks.filter((task) => task.benchmark === name && task.own)).filter((task) => task.whole);
      const rows = tasks.map((task) => {
        const metric = headlineOf(task), found = comparisonOf(task, metric), said = verdict(task, metric, found);
        const own = entriesOf(task, metric).filter(isOwn);
        const value = said ? el(
          "span", {}, el("strong", {}, atLeast(said.entry)),
          bar(said.entry.low, said.entry.value, said.entry.high, 0, scale(own, metric), range(said.entry)),
          el("span", { class: "small" }, range(said.entry))
        ) : "–";
        return el("tr", {}, el(
          "th", { scope: "row" },
          el("a", { href: link({ benchmark: name, task: task.key, measure: "" }) }, task.name.replace(`${D.benchmarks[name]}, `, ""))
        ),
          el("td", { "data-label": "Leader" }, el("strong", {}, said?.name || "nobody is ranked")), el("td", { "data-label": label(metric) }, value),
          el("td", { "data-label": "How sure" }, el("span", { class: said?.sure ? "sure" : "unsure" }, said?.text || "See the notes of the table.")),
          el("td", { "data-label": "Models" }, String(new Set(own.map((one) => one.run.model)).size)));
      });
      const metric = tasks.length ? headlineOf(tasks[0]) : "acc";
      main.append(el("h2", {}, el("a", { href: link({ benchmark: name, task: "" }) }, D.benchmarks[name])), el("p", { class: "quiet" }, D.about[name]),
        el(
          "table", { class: "plain over" },
          el("thead", {}, el("tr", {}, ["Task", "Leader", `${label(metric)} with 95 % interval`, "How sure", "Models"].map((text) => el("th", { scope: "col" }, text)))),
          el("tbody", {}, rows)
        ));
    }
    main.append(el(
      "p", { class: "quiet" },
      "Figures from the papers stand below the measured runs of each task; they are not ranked with them. An interval says how far a value may lie from that over all questions of this kind."
    ));
  }

  const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  // --- compare two

  function compare(main) {
    const tasks = distinct(tasksShown().filter((task) => task.own));
    const models = [...new Set(tasks.flatMap((task) => entriesOf(task, headlineOf(task)).filter(isOwn).map((one) => one.run.model)))];
    if (models.length < 2) return void main.append(
      el("h2", {}, "Compare two"),
      el("p", {}, "Only one model was run here. Choose another benchmark, or add runs to the report.")
    );
    const usual = tasks.map((task) => comparisonOf(task, headlineOf(task))).sort((x, y) => (y?.ranks.length || 0) - (x?.ranks.length || 0))[0];
    const leading = [...(usual?.ranks || []).map((one) => ofRun.get(one.run).model), ...models];
    const a = models.includes(state.a) ? state.a : leading.find((one) => one !== state.b);
    const rest = models.filter((one) => one !== a), b = rest.includes(state.b) ? state.b : leading.find((one) => one !== a);
    $("filters").append(choice("First model", "a", models.map((one) => [one, one])), choice("Second model", "b", rest.map((one) => [one, one])));
    $("choice-a").value = a;
    $("choice-b").value = b;
    main.append(
      el("h2", {}, `${a} against ${b}`),
      el(
        "p", { class: "quiet" },
        "Only questions that both models were asked. The difference is the first minus the second, with its 95 % interval. The result follows from a test that is corrected for all pairs of models, so it is stricter than the interval."
      )
    );
    const rows = [];
    for (const task of tasks) {
      const metric = headlineOf(task), entries = entriesOf(task, metric).filter(isOwn);
      const { found, pair, sign } = pairOf(task, metric, a, b);
      const of = (model, run) => entries.find((one) => (run ? one.run.id === run : one.run.model === model));
      const first = of(a, pair && (sign > 0 ? pair.first : pair.second)), second = of(b, pair && (sign > 0 ? pair.second : pair.first));
      if (!first || !second) continue;
      const differ = [...new Set([
        ...Object.keys(D.groups[first.group] || {}), ...Object.keys(D.groups[second.group] || {})
      ])].filter((name) => settingText(D.groups[first.group]?.[name]) !== settingText(D.groups[second.group]?.[name]));
      rows.push({ task, metric, pair, sign, first, second, found, differ });
    }
    if (!rows.length) return void main.append(el("p", {}, "These two models share no task."));
    const most = Math.max(...rows.filter((one) => one.pair).map((one) => Math.max(Math.abs(one.pair.low), Math.abs(one.pair.high))), 1e-6);
    main.append(el("table", { class: "plain over" }, el(
      "thead", {},
      el("tr", {}, ["Task", a, b, "Difference", "Result", "Questions"].map((text) => el("th", { scope: "col" }, text)))
    ), el("tbody", {}, rows.map((one) => {
      const { pair, sign, metric } = one, points = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${number(Math.abs(value), metric).replace("\u00a0%", "")}`;
      const low = pair && (sign > 0 ? pair.low : -pair.high), high = pair && (sign > 0 ? pair.high : -pair.low), up = D.metrics[metric].higher_is_better !== false;
      const clear = pair && pair.p_holm !== null && pair.p_holm < D.alpha;
      const better = pair && (sign * pair.difference > 0) === up ? a : b;
      const open = D.samples[one.first.run.id] && D.samples[one.second.run.id];
      return el("tr", {}, el("th", { scope: "row" }, one.task.name), el("td", { "data-label": a }, atLeast(one.first)), el(
        "td", { "data-label": b }, atLeast(one.second)
      ),
        pair ? el(
          "td", { "data-label": "Difference" }, `${points(sign * pair.difference)} points`,
          bar(low, sign * pair.difference, high, -most, most, `${points(low)} to ${points(high)}`),
          el("span", { class: "small" }, `${points(low)} to ${points(high)}`)
        ) : el("td", { "data-label": "Difference" }, "–"),
        el("td", { "data-label": "Result" }, !pair ? notes(one.differ.length ? [`not compared: differs in ${one.differ.join(", ")}`] : [...new Set([...one.first.marks, ...one.second.marks, "not compared"])]) : el(
          "span", { class: clear ? "sure" : "unsure" }, clear ? `${better} is better` : "No clear difference"
        ),
          pair && el(
            "span", { class: "small" },
            `p = ${pair.p_holm === null ? "–" : pair.p_holm < 0.001 ? "< 0.001" : pair.p_holm.toFixed(3)}, corrected for ${count(one.found.pairs.length, "pair")}`.replace("= <", "<")
          )),
        el(
          "td", { "data-label": "Questions" }, String(pair?.n ?? "–"),
          open && el(
            "span", { class: "small" },
            el(
              "a",
              {
                href: link({ view: "samples", benchmark: one.task.benchmark, run: one.first.run.id, with: one.second.run.id, show: "lost", sample: "" }),
                "aria-label": `Questions that ${a} lost on ${one.task.name}`
              },
              "see what differs"
            )
          )
        ));
    }))));
  }

  function pairOf(task, metric, a, b) { // the test of two models; the sign is -1 if it was made the other way round
    for (const found of D.comparisons.filter((one) => one.task === task.id && one.metric === metric)) for (const pair of found.pairs) {
      const [first, second] = [ofRun.get(pair.first).model, ofRun.get(pair.second).model];
      if (first === a && second === b) return { found, pair, sign: 1 };
      if (first === b && second === a) return { found, pair, sign: -1 };
    }
    return {};
  }

  // --- breakdown

  function parts(main) {
    main.append(
      el("h2", {}, "Breakdown"),
      el(
        "p", { class: "quiet" },
        "The same runs by kind of question, with 95 % intervals in small print. They are wide where there are few questions, and they are not corrected for the number of parts."
      )
    );
    const all = tasksShown().filter((task) => task.own), before = main.childElementCount;
    for (const task of distinct(all).filter((one) => one.whole)) {
      const own = new Map();
      for (const metric of task.metrics) {
        const by = D.metrics[metric].by;
        if (by && baseOf(metric) === (task.metrics.some((one) => D.metrics[one].by === by && baseOf(one) === task.headline) ? task.headline : headlineOf(task, ["acc_em"]))) own.set(by, [...(own.get(by) || []), metric]);
      }
      for (const [by, metrics] of own) matrix(main, `${task.name}: ${BY[by] || by}`, metrics.map((metric) => [label(metric), entriesOf(task, metric)]));
    }
    const windows = new Map();
    for (const task of distinct(all)) if (task.window) {
      const name = task.name.replace(`, ${task.window} reports`, "");
      windows.set(name, [...(windows.get(name) || []), task]);
    }
    for (const [name, tasks] of windows) for (const metric of ["acc", "bias_index"]) {
      tasks.sort((x, y) => x.window - y.window);
      matrix(main, `${name}: ${label(metric)} by number of earnings reports shown`, tasks.map((task) => [`${task.window} reports`, entriesOf(task, metric)]));
    }
    if (main.childElementCount === before) main.append(el("p", {}, "These runs have no parts to break down by."));
  }

  function matrix(main, title, columns) {
    const rows = new Map();
    columns.forEach(([, entries], at) => entries.forEach((one) => {
      const key = isOwn(one) ? one.run.label : `${one.run.label} (published)`;
      if (!rows.has(key)) rows.set(key, { own: isOwn(one), cells: [] });
      rows.get(key).cells[at] ??= one;
    }));
    if (![...rows.values()].some((row) => row.own && row.cells.some((one) => one.value !== null))) return;
    const sorted = [...rows].sort(([, x], [, y]) => y.own - x.own);
    main.append(el("h3", {}, title), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "plain parts" },
      el("thead", {}, el("tr", {}, ["Model", ...columns.map(([name]) => name)].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, sorted.map(([name, row]) => el("tr", { class: row.own ? null : "paper" }, el("th", { scope: "row" }, name), columns.map(([part], at) => {
        const one = row.cells[at];
        if (!one || one.value === null) return el("td", { "data-label": part }, "–");
        const made = el("span", { class: "part" }, atLeast(one));
        made.style.setProperty("--share", `${100 * one.value / scale([one], one.metric)}%`);
        return el("td", { "data-label": part }, made, el("span", { class: "small" }, [range(one), one.n ? `${one.n} questions` : ""].filter(Boolean).join("; ")));
      })))))));
  }

  // --- samples

  const taskFor = (run) => scored([...run.tasks][0]);
  const most = (run) => (D.metrics[taskFor(run).headline]?.unit === "points" ? 100 : 1);

  function outcome(value, run) {
    if (value === null || value === undefined) return ["not scored", "quiet"];
    if (most(run) === 100) return [`${+value.toFixed(1)} of 100 points`, value >= 50 ? "right" : "wrong"];
    return value >= 1 ? ["right", "right"] : value <= 0 ? ["wrong", "wrong"] : [`${Math.round(100 * value)} % right`, "quiet"];
  }

  async function samples(main) {
    const now = drawn, able = D.runs.filter((run) => D.samples[run.id] && (!state.benchmark || taskFor(run).benchmark === state.benchmark));
    main.append(el("h2", {}, "Samples"));
    if (!able.length) return void main.append(el("p", {}, "This report holds no samples of these runs."));
    const run = able.find((one) => one.id === state.run) || able[0];
    const others = D.runs.filter((one) => one !== run && D.samples[one.id] && taskFor(one).key === taskFor(run).key);
    const other = others.find((one) => one.id === state.with);
    $("filters").append(choice("Run", "run", able.map((one) => [one.id, one.label, taskFor(one).name]), { with: "", sample: "", part: "" }),
      choice("Compare with", "with", [["", "no other run"], ...others.map((one) => [one.id, one.label])], { sample: "" }));
    $("choice-run").value = run.id;
    const list = await load(`list-${run.id}`).catch((error) => main.append(el("p", {}, error.message)));
    const second = other && await load(`list-${other.id}`).catch(() => null);
    if (now !== drawn || !list) return;
    const variant = list.by[state.scoring] ? state.scoring : Object.keys(list.by)[0], own = list.by[variant], apart = Object.keys(list.by).find((one) => one !== variant);
    const place = new Map((second?.id || []).map((id, at) => [id, at])), theirs = second?.by[variant];
    const options = Object.entries(SHOW).filter(([key]) => (second || !["gained", "lost"].includes(key)) && (apart || key !== "disagree") && (key !== "cut" || own.cut_off.includes(true)));
    $("filters").append(choice("Show", "show", options, { sample: "" }));
    const kinds = Object.entries(list.parts).flatMap(([by, of]) => [...new Set(of.flatMap((one) => one?.split("|") || []))].sort().map((part) => [
      `${by}:${part}`, label(`acc_${part}`).replace(`acc_${part}`, part), BY[by] || by
    ]));
    if (kinds.length) $("filters").append(choice("Kind of question", "part", [["", "all"], ...kinds], { sample: "" }));
    const find = el("input", { id: "find", type: "search", value: state.find || "", onchange: (event) => go({ find: event.target.value, sample: "" }) });
    $("filters").append(el("label", {}, "Find in question, id or answer", find));
    const [by, part] = (state.part || "").split(/:(.*)/s), wanted = (state.find || "").toLowerCase(), full = most(run);
    const rows = [];
    list.id.forEach((id, at) => {
      const value = own.value[at], next = theirs?.value[place.get(id)], differs = apart && list.by[apart].value[at] !== value;
      const fits = {
        right: value >= full, wrong: value !== null && value < full, unscored: value === null,
        unread: own.answer[at] === null && full === 1, cut: own.cut_off[at], disagree: differs, gained: next !== null && value > next,
        lost: value !== null && value < next
      }[state.show];
      if (state.show && !fits) return;
      if (by && !(list.parts[by]?.[at] || "").split("|").includes(part)) return;
      if (wanted && ![id, list.asked[at], own.answer[at]].some((text) => text?.toLowerCase().includes(wanted))) return;
      rows.push({ at, id, asked: list.asked[at], answer: own.answer[at], cut: own.cut_off[at], value, next });
    });
    const told = `${rows.length.toLocaleString("en")} of ${count(list.id.length, "question")}`;
    $("status").textContent = told;
    main.append(el("p", { class: "quiet" }, `${taskFor(run).name}. ${told}.`));
    const left = el("div", { class: "list" }), right = el("div", { id: "shown" });
    main.append(el("div", { class: state.sample ? "two open" : "two" }, left, right));
    const pager = el("div", { class: "pages" });
    const result = (one, which, name) => ({ title: name, field: which, width: 130, responsive: 0, formatter: cell((row) => {
      const [text, kind] = outcome(row[which], one);
      return el("span", { class: kind }, text, which === "value" && row.cut && el("span", { class: "small" }, "cut off"));
    }) });
    if (rows.length) grid(left, "Samples", rows, [
      { title: "Question", field: "asked", minWidth: 150, widthGrow: 3, responsive: 0, formatter: cell((row) => el(
        "a",
        { href: link({ sample: row.id }), id: `open-${row.at}`, "aria-current": row.id === state.sample ? "true" : null },
        el("span", { class: "two-lines" }, row.asked || row.id), row.asked && el("span", { class: "small" }, row.id)
      )) },
      ...(full === 100 || second ? [] : [{ title: "Answer read", field: "answer", width: 120, responsive: 1, formatter: cell((row) => (row.answer === null ? el("span", { class: "quiet" }, "none") : row.answer.slice(0, 60))) }]),
      result(run, "value", second ? run.label : "Result"), ...(second ? [result(other, "next", other.label)] : []),
    ], { pagination: true, paginationSize: PAGE, paginationInitialPage: 1 + Math.floor(Math.max(0, rows.findIndex((row) => row.id === state.sample)) / PAGE), paginationButtonCount: 3, paginationElement: pager });
    left.append(pager);
    const at = list.id.indexOf(state.sample);
    if (at < 0) return void right.append(el("p", { class: "quiet" }, "Choose a question to see the response and how it was scored."));
    const n = rows.findIndex((row) => row.at === at), step = (to, text) => (rows[to] ? el(
      "a", { id: `go-${text.toLowerCase()}`, href: link({ sample: rows[to].id }) }, text
    ) : null);
    right.append(el(
      "p", { class: "pages" }, el("a", { id: "back", href: link({ sample: "" }) }, "Back to the list"),
      n > 0 && step(n - 1, "Previous"), n >= 0 && step(n + 1, "Next")
    ));
    await sample(right, list, at, [[run, at], ...(second ? [[other, place.get(state.sample)]] : [])]).catch((error) => right.append(el("p", {}, error.message)));
    if (narrow()) right.scrollIntoView();
  }

  async function sample(host, list, at, runs) {
    const now = drawn, piece = (one) => Math.floor(one / D.chunk), [first] = runs[0];
    const asked = (await load(`asked-${D.samples[first.id].asked[piece(at)]}`))[at % D.chunk];
    const got = await Promise.all(runs.map(async ([one, place]) => place === undefined ? null : (await load(`rows-${one.id}-${piece(place)}`))[place % D.chunk]));
    const lists = await Promise.all(runs.map(([one]) => load(`list-${one.id}`)));
    if (now !== drawn) return;
    const facts = (of) => el("dl", {}, Object.entries(of).map(([name, text]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, text)]));
    const whole = (run) => most(run) === 1;
    const scoring = (which, variant, own) => {
      const [run, place] = runs[which], [text, kind] = outcome(own.value[place], run), read = got[which].read[variant] || [];
      return [
        el("h3", {}, `Scored ${SCORINGS[variant] || variant}: `, el("span", { class: kind }, text)),
        whole(run) && el("p", {}, own.answer[place] === null ? "No answer was read." : ["Answer read: ", el("strong", {}, own.answer[place])]),
        own.reason[place] && el("p", {}, `Reason: ${own.reason[place]}`),
        own.cut_off[place] && el("p", {}, "The response was cut off."),
        el("details", {}, el("summary", {}, "More about this scoring"), read.map(reading).map(facts)),
      ];
    };
    const response = ([run], which) => el("section", { "aria-label": run.label },
      el("h3", {}, runs.length > 1 ? `Response of ${run.label}` : "Response"),
      got[which] ? got[which].said.map((text) => el("pre", { tabindex: 0 }, text || "(an empty response)")) : el("p", {}, "This run was not asked the question."),
      got[which] && Object.entries(lists[which].by).map(([variant, own]) => scoring(which, variant, own)));
    const picture = asked.picture
      ? el("img", { src: `page/pictures/${asked.picture}`, alt: "The picture that the question is about" })
      : asked.picture === "" && el("p", { class: "quiet" }, "The picture was not found on the machine that made this report.");
    host.append(el("article", { class: "sample", "aria-label": `Sample ${asked.id}` },
      el("h3", { id: "sample-title" }, `Question ${asked.id}`),
      picture,
      asked.system && el("details", {}, el("summary", {}, "Instructions to the model"), el("pre", {}, asked.system)),
      asked.prompt ? el("pre", { tabindex: 0, "aria-label": "Question" }, asked.prompt) : el(
        "p", { class: "quiet" }, "The results file does not hold the question's text."
      ),
      asked.facts.choices && el("p", {}, "Choices: ", asked.facts.choices),
      asked.truth && el("p", {}, "Right answer: ", el("strong", {}, asked.truth)),
      Object.keys(asked.facts).length > 0 && el("details", {}, el("summary", {}, "More about the question"), facts(asked.facts)),
      el("div", { class: "columns" }, runs.map(response))));
  }

  function reading(text) { // what a scorer read: an object as JSON, or the text that it compared
    let found;
    try { found = JSON.parse(text); } catch { /* no JSON */ }
    if (found === null || typeof found !== "object") return { "text that was scored": text };
    const told = Object.entries(found).filter(([name, value]) => name !== "variant" && ![null, "", false].includes(value) && value.length !== 0);
    return Object.fromEntries(told.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
  }

  // --- runs

  function runs(main) {
    const used = D.files.map((one, at) => ({ ...one, at, own: tasksOf(one) })).filter((one) => !state.benchmark || one.own.some((task) => task.benchmark === state.benchmark));
    main.append(
      el("h2", {}, "Runs"),
      el(
        "p", { class: "quiet" },
        `${count(used.length, "results file")} of ${count(new Set(used.map((one) => one.model)).size, "model")}. A run is one results file: one model, asked one or more tasks. ≈ marks numbers that are estimated from the length of the texts.`
      )
    );
    grid(main, "Runs", used, [
      { title: "Model", field: "model", minWidth: 120, widthGrow: 2, responsive: 0, formatter: cell((one) => el(
        "span", {}, one.model,
        narrow() && el("span", { class: "small" }, one.date.slice(0, 10), " ", [...new Set(one.own.map((task) => D.benchmarks[task.benchmark]))].join(", "))
      )) },
      { title: "Date", field: "date", width: 108, responsive: 1, formatter: cell((one) => one.date.slice(0, 10) || "unknown") },
      { title: "From", field: "harness", width: 135, responsive: 3, formatter: cell((one) => HARNESSES[one.harness] || one.harness) },
      { title: "Tasks", field: "own", minWidth: 170, widthGrow: 3, responsive: 2, headerSort: false, formatter: cell((one) => el(
        "span", {}, [...new Set(one.own.map((task) => task.name))].map((name) => [name, el("br")])
      )) },
      {
        title: "Questions", field: "rows", width: 118, responsive: 1,
        formatter: cell((one) => (one.rows_all > one.rows ? `${one.rows.toLocaleString("en")} of ${one.rows_all.toLocaleString("en")}` : one.rows.toLocaleString("en")))
      },
      { title: "Judge", field: "judge", width: 92, responsive: 4, visible: used.some((one) => one.judge), formatter: cell((one) => one.judge) },
      ...[["Tokens in", "tokens_in"], ["Tokens out", "tokens_out"], ["Seconds", "seconds"], [`Cost, ${D.prices?.currency}`, "cost"]].map(([title, field]) => ({
        title, field, width: 98, responsive: 4, visible: used.some((one) => one[field] !== null),
        formatter: cell((one) => (one[field] === null ? "unknown" : `${one.estimated.includes(field) ? "≈ " : ""}${one[field].toLocaleString("en", field === "cost" ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 })}`))
      })),
      { title: "Settings", field: "settings", width: 100, responsive: 0, headerSort: false, formatter: cell((one) => el(
        "button", { type: "button", "aria-label": `Settings of ${one.model}`, onclick: () => settings(one) }, "Show"
      )) },
    ]);
    const listed = (name, texts) => texts.length && main.append(el("h3", {}, name), el("ul", {}, texts.map((text) => el("li", {}, text))));
    listed("Files that could not be used in full", D.problems.map((one) => one.message));
    listed("Notes", D.notes);
    listed(
      "Sources of published figures",
      [...new Set(D.runs.filter((run) => run.paper && [...run.tasks].some((task) => !state.benchmark || task.benchmark === state.benchmark)).map((run) => run.paper.replace(/, table .*/, "")))]
    );
  }

  const settingText = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const tasksOf = (file) => file.runs.map((id) => ofRun.get(id)).filter((run) => run.tasks.size).map(taskFor);

  function settings(one) {
    const groups = new Map();
    for (const task of tasksOf(one)) {
      const entry = entriesOf(task, headlineOf(task)).find((own) => own.run.file?.id === one.id);
      if (entry?.group) groups.set(task.name, D.groups[entry.group] || {});
    }
    const table = (of) => el("dl", {}, Object.entries(of).map(([name, text]) => [el("dt", {}, name), el("dd", {}, settingText(text) || "none")]));
    $("dialog").replaceChildren(el("form", { method: "dialog" }, el("button", {}, "Close")), el("h2", { id: "dialog-title" }, `Settings of ${one.model}`), el("p", { class: "quiet" }, one.path), table(one.settings),
      el("div", {}, [...groups].map(([name, of]) => el("details", {}, el("summary", {}, name), table(of)))));
    $("dialog").showModal();
  }
})();
