// The sample browser: what a run was asked, what came back, and what was made of it, from files beside the page.

VIEWS.push({id: "samples", title: "Samples", shown: (data) => Object.keys(data.samples?.runs ?? {}).length > 0, draw: drawSamples});

const SAMPLES_PER_PAGE = 50;
const FILES_KEPT = 48;

const received = new Map();  // name of a file to its JSON text, from the moment it runs until it is parsed
const sampleFiles = new Map();  // name to a promise of its value, the latest used last
const runIndexes = new Map();  // run to its index, for the few runs looked at last

// Each file beside the page is a call of this with two texts.
globalThis.finTasksSample = (name, text) => received.set(String(name), String(text));

/** Whether the samples of a run lie beside the page. */
function samplesOf(data, run) {
  return Object.hasOwn(data.samples?.runs ?? {}, run.id);
}

/** Load a file beside the page, or take it from those loaded last. */
function sampleFile(name) {
  const known = sampleFiles.get(name);
  sampleFiles.delete(name);
  const found = known ?? loadSidecar(`samples/${name}.js`).then(() => {
    const text = received.get(name);
    received.delete(name);
    if (text === undefined) throw new Error(`samples/${name}.js is not of this page`);
    return JSON.parse(text);
  });
  sampleFiles.set(name, found);
  found.catch(() => sampleFiles.delete(name));
  if (sampleFiles.size > FILES_KEPT) sampleFiles.delete(sampleFiles.keys().next().value);
  return found;
}

/** All parts of a run's index as one. */
async function loadIndex(facts, size) {
  const parts = [];
  for (let at = 0; at * size < facts.rows; at += 1) parts.push(await sampleFile(`runs/${facts.folder}/index-${at}`));
  const joined = (read) => parts.flatMap(read);
  const variants = Object.fromEntries(facts.variants.map((name) => [name, {
    values: joined((part) => part.variants[name].values), answers: joined((part) => part.variants[name].answers),
  }]));
  const index = {
    facts, variants, ids: joined((part) => part.ids), asked: joined((part) => part.asked), said: joined((part) => part.said),
    groups: joined((part) => part.groups.map((of) => of.map((at) => part.names[at]))), questions: joined((part) => part.questions),
    full: facts.metric === "score" ? 100 : 1,
  };
  index.names = distinct(index.groups.flat(), (name) => name);
  index.places = new Map(index.ids.map((id, place) => [id, place]));
  return index;
}

function drawSamples(root, state, data) {
  const run = sampleRun(state, data);
  const facts = data.samples.runs[run.id];
  const variant = facts.variants.includes(state.variant) ? state.variant : facts.variants.at(-1);
  const index = runIndexes.get(run.id);
  const body = el("div", {class: "samples-body"});
  root.append(sampleFilters(state, data, {run, facts, variant, index}), body);
  if (index) {
    drawBody(body, state, data, {run, index, variant});
    return;
  }
  body.append(el("p", {class: "hint"}, "Loading the samples …"));
  loadIndex(facts, data.samples.index).then((found) => {
    runIndexes.set(run.id, found);
    if (runIndexes.size > 4) runIndexes.delete(runIndexes.keys().next().value);
    if (root.isConnected) draw();  // the filters offer what the index has
  }).catch((error) => notLoaded(body, error));
}

function notLoaded(body, error) {
  body.replaceChildren(el("p", {class: "note", role: "alert"}, plain(
    `The samples cannot be loaded: ${error.message}. They are files in the folder “samples” beside this page; copy the folder along with it.`,
  )), el("button", {type: "button", on: {click: () => draw()}}, "Try again"));
}

/** The run of the address, else the first one. */
function sampleRun(state, data) {
  const there = data.runs.filter((run) => samplesOf(data, run));
  return there.find((run) => run.id === state.run) ?? there[0];
}

let titlesOf = null;

/** What a run is of: its task's title without the variant. */
function runTitle(data, run) {
  titlesOf ??= new Map(data.entries.map(({run: of, task}) => [of.id, task.title.replace(` · ${task.variant}`, "")]));
  return titlesOf.get(run.id) ?? run.task;
}

function sampleFilters(state, data, {run, facts, variant, index}) {
  const runs = data.runs.filter((one) => samplesOf(data, one));
  const ofModel = (model) => runs.filter((one) => one.model === model);
  const several = ofModel(run.model);
  const named = (one) => `${runTitle(data, one)}${several.filter((other) => runTitle(data, other) === runTitle(data, one)).length > 1 ? ` (${one.date ? formatDate(one.date) : one.id})` : ""}`;
  const other = (model) => ofModel(model).find((one) => runTitle(data, one) === runTitle(data, run)) ?? ofModel(model)[0];
  const fresh = {page: "", group: "", row: ""};
  const shown = [["", "All"], ["wrong", facts.metric === "score" ? "Less than full marks" : "Wrong"], ["right", facts.metric === "score" ? "Full marks" : "Right"], ["unscored", "Not scored"]];
  if (facts.variants.length > 1) shown.push(["differ", `${facts.variants.join(" and ")} differ`]);
  const groups = [["", "All"], ...(index?.names ?? [state.group].filter(Boolean)).map((name) => [name, name])];
  const entries = data.entries.filter((one) => one.run === run && one.task.variant === variant && one.metric === one.task.headline);
  return el("form", {class: "filters", role: "search", "aria-label": "Samples", on: {submit: (event) => event.preventDefault()}},
    choice("Model", distinct(runs, (one) => one.model).map((name) => [name, name]), run.model, (model) => setState({run: other(model).id, page: "", group: ""})),
    choice("Task", several.map((one) => [one.id, named(one)]), run.id, (id) => setState({run: id, ...fresh})),
    choice("Scored as", facts.variants.map((name) => [name, name]), variant, (name) => setState({variant: name})),
    choice("Show", shown, state.only ?? "", (only) => setState({only, page: "", row: ""})),
    groups.length > 1 ? choice("Category", groups, state.group ?? "", (group) => setState({group, page: "", row: ""})) : null,
    searchBox("Find in samples", state.find ?? "", (find) => setState({find, page: "", row: ""}, {replace: true})),
    tick("Search whole texts", state.whole === "1", (on) => setState({whole: on ? "1" : "", page: ""})),
    entries.length ? el("button", {type: "button", on: {click: () => openDetails(data, entries)}}, "About this run") : null,
  );
}

function drawBody(body, state, data, {run, index, variant}) {
  const chosen = {state, data, run, index, variant, places: samplePlaces(index, state, variant)};
  const whole = state.whole === "1" && (state.find ?? "").trim();
  if (state.row !== undefined) {
    drawSample(body, chosen).catch((error) => notLoaded(body, error));
    return;
  }
  if (!whole) {
    drawList(body, chosen);
    return;
  }
  searchTexts(body, chosen).catch((error) => notLoaded(body, error));
}

/** Places of the samples that the filters leave; where whole texts are searched the search is not among them. */
function samplePlaces(index, state, variant) {
  const {values} = index.variants[variant];
  const all = Object.values(index.variants);
  const filters = new Map(Object.entries({
    wrong: (place) => values[place] !== null && values[place] < index.full,
    right: (place) => values[place] !== null && values[place] >= index.full,
    unscored: (place) => values[place] === null,
    differ: (place) => all.some((one) => one.values[place] !== values[place]),
  }));
  const fits = filters.get(state.only) ?? (() => true);
  const search = state.whole === "1" ? "" : (state.find ?? "").trim();
  const found = [];
  for (let place = 0; place < index.ids.length; place += 1) {
    if (fits(place) && (!state.group || index.groups[place].includes(state.group)) && (!search || matches(listText(index, place), search))) found.push(place);
  }
  return found;
}

/** What the quick search looks at, which is what the list shows. */
function listText(index, place) {
  index.texts ??= index.ids.map((id, at) => [id, index.asked[at], index.said[at], ...Object.values(index.variants).map((one) => one.answers[at])].join("\n"));
  return index.texts[place];
}

/** Search questions and responses file by file; what is found so far is shown on the way. */
async function searchTexts(body, chosen) {
  const {index, data, state, places} = chosen;
  const search = state.find.trim();
  const {chunk} = data.samples;
  const cached = index.searched?.key === `${search}\n${places.length}\n${state.only}\n${state.group}\n${chosen.variant}` ? index.searched.found : null;
  if (cached) {
    drawList(body, {...chosen, places: cached});
    return;
  }
  const chunks = [...new Set(places.map((place) => Math.floor(place / chunk)))];
  const wanted = new Set(places);
  const found = [];
  let told = 0;
  for (const [done, at] of chunks.entries()) {
    const [questions, responses] = await Promise.all([
      sampleFile(`questions/${index.questions[at]}`), sampleFile(`runs/${index.facts.folder}/responses-${at}`),
    ]);
    if (!body.isConnected) return;
    questions.forEach((question, offset) => {
      const place = at * chunk + offset;
      const text = () => [question.id, question.prompt, ...question.references.map(([, of]) => of), ...responses[offset]].join("\n");
      if (wanted.has(place) && matches(text(), search)) found.push(place);
    });
    if (performance.now() - told > 300 && done + 1 < chunks.length) {
      told = performance.now();
      drawList(body, {...chosen, places: [...found]}, `Searched ${done + 1} of ${chunks.length} files. `);
    }
  }
  index.searched = {key: `${search}\n${places.length}\n${state.only}\n${state.group}\n${chosen.variant}`, found};
  drawList(body, {...chosen, places: found});
}

/** What the columns of the list sort by: key to the value of a place. Scores go by their variant's number. */
function sampleOrders(index, variant) {
  return new Map([
    ["id", (place) => index.ids[place]],
    ...index.facts.variants.map((name, at) => [`v${at}`, (place) => index.variants[name].values[place]]),
    ["answer", (place) => blankLast(index.variants[variant].answers[place])],
    ["asked", (place) => index.asked[place]],
    ["said", (place) => index.said[place]],
  ]);
}

/** Places in the order that the address asks for; those without a value are last in either. */
function inOrder(index, places, sort, variant) {
  const read = sampleOrders(index, variant).get(sort.replace(/^-/, ""));
  if (!read) return places;
  const key = `${sort}\n${variant}`;
  if (index.sorted?.key !== key) {  // of all, as every page and step asks again
    const sign = sort.startsWith("-") ? -1 : 1;
    const all = index.ids.map((_, place) => place).sort(compareBy(read, sign));
    const rank = new Int32Array(all.length);
    all.forEach((place, at) => { rank[place] = at; });
    index.sorted = {key, rank};
  }
  const {rank} = index.sorted;
  return [...places].sort((a, b) => rank[a] - rank[b]);
}

function drawList(body, {state, run, index, variant, places: unordered}, progress = "") {
  const sort = state.ssort ?? "";
  const places = inOrder(index, unordered, sort, variant);
  const pages = Math.max(1, Math.ceil(places.length / SAMPLES_PER_PAGE));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(state.page)) || 1));
  const rows = places.slice((page - 1) * SAMPLES_PER_PAGE, page * SAMPLES_PER_PAGE);
  const told = `${progress}${counted(places, "sample")} of ${formatCount(index.ids.length)}`;
  const names = [variant, ...index.facts.variants.filter((name) => name !== variant)];
  const orders = sampleOrders(index, variant);
  const columns = [
    {key: "id", title: "Sample", cell: (place) => el("a", {href: linkTo({run: run.id, variant, row: index.ids[place]})}, plain(index.ids[place]))},
    ...names.map((name) => ({
      key: `v${index.facts.variants.indexOf(name)}`, title: name, numeric: true, className: (place) => verdictClass(index, name, place),
      cell: (place) => sampleScore(index, name, place),
    })),
    {key: "answer", title: "Answer read", cell: (place) => short(index.variants[variant].answers[place])},
    {key: "asked", title: "Question", cell: (place) => short(index.asked[place])},
    {key: "said", title: "Response", cell: (place) => short(index.said[place])},
  ].map((column) => ({sort: orders.get(column.key), open: (place) => () => setState({run: run.id, variant, row: index.ids[place]}), ...column}));
  body.replaceChildren(
    rows.length ? grid({caption: told, columns, rows, sort, onSort: (ssort) => setState({ssort, page: ""}), className: "samples-list"}) : el("p", {class: "hint"}, progress || "No sample fits these filters."),
    pages > 1 ? pager(page, pages) : "",
  );
  queueMicrotask(() => {  // once the list is in the page
    focusWanted();
    focusLink(body);
  });
  announce(told);
}

function short(text) {
  return el("span", {class: "short", dir: "auto"}, plain(text || "–"));
}

function verdictClass(index, name, place) {
  const value = index.variants[name].values[place];
  if (value === null) return "apart";
  return value >= index.full ? "better" : value > 0 ? "" : "worse";
}

function sampleScore(index, name, place) {
  const value = index.variants[name].values[place];
  if (value === null) return "not scored";
  const sign = value >= index.full ? "✓ " : value > 0 ? "" : "✗ ";
  return `${sign}${formatValue(value, index.full === 100 ? "points" : "fraction", 0)}${index.full === 100 ? "" : " %"}`;
}

function pager(page, pages) {
  const step = (id, text, to) => el("button", {
    type: "button", id, disabled: to < 1 || to > pages, on: {click: () => { wantedFocus = id; setState({page: to > 1 ? to : ""}); }},
  }, text);
  return el("p", {class: "pager"}, step("page-back", "Previous page", page - 1), ` Page ${formatCount(page)} of ${formatCount(pages)} `, step("page-on", "Next page", page + 1));
}

let sampleShown = "";  // the sample that was shown last, whose link has the focus once its list is shown again

function focusLink(body) {
  const link = [...body.querySelectorAll("tbody a")].find((one) => one.textContent === plain(sampleShown));
  if (sampleShown && [null, document.body, document.getElementById("main")].includes(document.activeElement)) link?.focus();
  sampleShown = "";
}

let wantedFocus = "";  // of a control that is drawn once files are loaded

function focusWanted() {
  if (wantedFocus) {
    const control = document.getElementById(wantedFocus);
    (control?.disabled ? document.getElementById("main") : control)?.focus({preventScroll: true});
  }
  wantedFocus = "";
}

/** Show one sample. */
async function drawSample(body, {state, data, run, index, variant, places}) {
  const place = index.places.get(state.row);
  const found = inOrder(index, state.whole === "1" ? index.searched?.found ?? places : places, state.ssort ?? "", variant);
  const at = found.indexOf(place);
  const page = Math.floor(Math.max(0, at) / SAMPLES_PER_PAGE) + 1;
  const back = el("a", {href: linkTo({row: "", page: page > 1 ? page : ""}), id: "sample-list"}, "All samples of this list");
  if (place === undefined) {
    body.replaceChildren(el("p", {class: "note", role: "alert"}, plain(`This run has no sample ${state.row}.`)), el("p", {}, back));
    return;
  }
  const {chunk} = data.samples;
  const [file, offset] = [Math.floor(place / chunk), place % chunk];
  const folder = `runs/${index.facts.folder}`;
  const [questions, responses, outcomes] = await Promise.all([
    sampleFile(`questions/${index.questions[file]}`), sampleFile(`${folder}/responses-${file}`), sampleFile(`${folder}/outcomes-${file}`),
  ]);
  if (!body.isConnected) return;
  sampleShown = state.row;
  const question = questions[offset];
  const step = (id, text, to) => el("button", {
    type: "button", id, disabled: to === undefined, on: {click: () => { wantedFocus = id; setState({run: run.id, variant, row: index.ids[to]}); }},
  }, text);
  const where = at < 0 ? "not in the list of these filters" : `${formatCount(at + 1)} of ${formatCount(found.length)}`;
  body.replaceChildren(el("article", {class: "sample", "aria-labelledby": "sample-title"},
    el("p", {class: "pager"}, back, step("sample-back", "Previous", at < 0 ? undefined : found[at - 1]), el("span", {}, where), step("sample-on", "Next", at < 0 ? undefined : found[at + 1]),
      copyButton("Copy link", () => addressOf(linkTo({view: "samples", run: run.id, variant, row: state.row}, {})))),
    el("h3", {id: "sample-title"}, el("bdi", {}, plain(question.id))),
    el("p", {class: "hint"}, el("bdi", {}, plain(`${run.model} · ${runTitle(data, run)}`))),
    verdicts(index, place, variant, outcomes),
    block("Question", [question.prompt], "sample-question"),
    picture(question),
    block("Reference", question.references.map(([, text]) => text), "sample-reference", question.references.map(([key]) => key)),
    block(responses[offset].length > 1 ? `Responses (${responses[offset].length})` : "Response", responses[offset], "sample-response"),
    ...madeOf(index, outcomes, offset, variant),
    question.system ? folding("System message", textBox(question.system, "System message")) : null,
    question.facts.length ? folding(`More about the question (${question.facts.length})`, definitions(question.facts)) : null,
  ));
  focusWanted();
  announce(`Sample ${plain(question.id)}, ${where}`);
}

/** What each variant gave. */
function verdicts(index, place, variant) {
  const names = [variant, ...index.facts.variants.filter((name) => name !== variant)];
  return el("ul", {class: "verdicts"}, names.map((name) => el("li", {class: `verdict ${verdictClass(index, name, place)}`},
    el("strong", {}, plain(name)), ` ${sampleScore(index, name, place)}`,
    index.variants[name].answers[place] ? [", answer read: ", el("bdi", {}, plain(index.variants[name].answers[place]))] : ", no answer read")));
}

function picture(question) {
  if (question.picture_missing) return el("p", {class: "note"}, "The question has a picture that was not found where the report was made, or cannot be shown.");
  if (!/^[0-9a-f]{24}\.(png|jpg)$/.test(question.picture)) return null;
  const image = el("img", {src: `samples/pictures/${question.picture}`, alt: "Picture of the question; the question above is about it", decoding: "async"});
  image.addEventListener("error", () => image.replaceWith(el("p", {class: "note"}, "The picture is not beside the page.")));
  return el("figure", {class: "sample-picture"}, image);
}

/** Texts of strangers under a heading: only ever text, hidden marks made visible. */
function block(title, texts, id, labels = []) {
  const boxes = texts.map((text, at) => [
    texts.length > 1 || labels[at] ? el("p", {class: "hint"}, plain(labels[at]?.replaceAll("_", " ") ?? `No. ${at + 1}`)) : null,
    textBox(text, `${title}${texts.length > 1 ? ` ${at + 1}` : ""}`),
  ]);
  return el("section", {id}, el("h4", {}, title), boxes.length ? boxes : el("p", {class: "hint"}, "None."));
}

function textBox(text, label) {
  return el("pre", {class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": label}, text === "" ? "(empty)" : plain(text.replaceAll("\r\n", "\n")));
}

function folding(title, ...children) {
  return el("details", {}, el("summary", {}, title), children);
}

const READ_NAMES = new Map(Object.entries({
  raw: "Judge's reply", tries: "Replies read", error: "Error", failed: "Failure of", score: "Score", reason: "Reason",
  status: "Program", value: "Program returned", detail: "Program's detail", answer: "Answer read", correct: "Right",
}));

/** What was made of the responses, each variant's fields and metrics. */
function madeOf(index, outcomes, offset, variant) {
  const names = [variant, ...index.facts.variants.filter((name) => name !== variant)];
  return names.map((name) => {
    const outcome = outcomes[name]?.[offset];
    if (!outcome) return null;
    const read = outcome.read.map((fields, at) => [
      outcome.read.length > 1 ? el("p", {class: "hint"}, `Response ${at + 1}`) : null,
      definitions(fields.map(([key, value]) => [READ_NAMES.get(key) ?? key.replaceAll("_", " "), shownValue(value)])),
    ]);
    const values = Object.entries(outcome.values);
    return el("section", {class: "made"}, el("h4", {}, plain(`Read and scored: ${name}`)), read,
      values.length ? folding(`Metrics (${values.length})`, definitions(values.map(([key, value]) => [key, String(value)]))) : null);
  });
}

function shownValue(value) {
  if (value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

// Arrows step through samples, Escape goes back to the list; boxes to type and choose in keep their keys.
document.addEventListener("keydown", (event) => {
  const control = {ArrowLeft: "sample-back", ArrowRight: "sample-on", Escape: "sample-list"}[event.key];
  if (!control || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.target.closest("input, select, textarea, dialog[open], [role=grid]")) return;
  const found = document.getElementById(control);
  if (!found || found.disabled) return;
  event.preventDefault();
  found.click();
});
