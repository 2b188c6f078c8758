// What the report was made from, and what could not be used.

VIEWS.push({id: "about", title: "Runs and notes", shown: () => true, draw: drawAbout});

function drawAbout(root, state, data) {
  if (data.problems.length) {
    root.append(el("h2", {}, `Skipped (${data.problems.length})`),
      el("ul", {class: "problems"}, data.problems.map((one) => el("li", {}, problem(one)))));
  }
  if (data.notes.length) root.append(el("h2", {}, "Notes"), el("ul", {}, data.notes.map((note) => el("li", {}, plain(note)))));
  const taskOf = (run) => (run.published ? paperOf(data, run) : run.task);
  const columns = [
    {key: "model", title: "Model", sort: (run) => run.label, cell: (run) => modelName(run.label, run.published), open: (run) => () => openRun(data, run)},
    {key: "task", title: "Task", sort: taskOf, cell: (run) => plain(taskOf(run))},
    {key: "source", title: "Source", sort: (run) => run.source, cell: (run) => plain(run.source)},
    {key: "date", title: "Date", sort: (run) => blankLast(run.date), cell: (run) => formatDate(run.date)},
    {key: "path", title: "File", sort: (run) => run.path, cell: (run) => plain(run.path)},
    {key: "id", title: "Run", cell: (run) => plain(run.id)},
  ];
  const found = data.runs.filter((run) => matches(`${run.label} ${taskOf(run)} ${run.path}`, state.search ?? ""));
  root.append(el("h2", {}, `Runs (${formatCount(data.runs.length)})`),
    el("form", {class: "filters", role: "search", on: {submit: (event) => event.preventDefault()}},
      searchBox("Find runs", state.search ?? "", (search) => setState({search}, {replace: true}))));
  root.append(grid({
    caption: `${counted(found, "run")}${found.length > PAGE ? `, of which ${PAGE} are shown` : ""}; open a model to see how its run was made`,
    columns, rows: found.slice(0, PAGE), sort: state.asort ?? "model", onSort: (asort) => setState({asort}, {keep: true}),
  }));
  root.append(el("p", {class: "hint"}, plain(`Made ${formatDate(data.generated)} UTC by fin-tasks ${data.fin_tasks}, from leaderboard.json version ${data.version}.`)
    + " Charts by Observable Plot (ISC)."));
}

/** What was skipped: messages mostly begin with the file's name, which is told once. */
function problem({path, message}) {
  return message.includes(path) ? plain(message) : [el("code", {}, plain(path)), ": ", plain(message)];
}
