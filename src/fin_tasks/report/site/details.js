// Where a number comes from: all that is known of an entry and its run, in a dialog that has an address.

/** Show an entry's details. `entries`: those of one cell, what the cell shows first. */
function openDetails(data, [entry, ...more]) {
  openDialog(data, {detail: [entry, ...more].map((one) => one.run.id).join(" "), detailTask: entry.task.id, detailMetric: entry.metric.name});
}

/** Show how a run was made. */
function openRun(data, run) {
  openDialog(data, {detail: run.id});
}

function openDialog(data, keys) {
  history.pushState({dialog: true}, "", linkTo(keys));
  showDialog(data);
}

let dialogShown = "";  // the address of what the dialog shows

/** Show or close what the address says lies over the view. */
function showDialog(data) {
  const dialog = document.getElementById("details");
  if (dialog.open && dialogShown === location.hash) return;
  const parts = dialogParts(data, readState());
  if (dialog.open) dialog.close();
  if (!parts) return;
  dialogShown = location.hash;
  const close = el("button", {type: "button", class: "close", on: {click: () => dialog.close()}}, "Close");
  const [title, ...rest] = parts;
  dialog.replaceChildren(el("header", {}, el("h2", {id: "details-title"}, plain(title)),
    el("span", {class: "buttons"}, copyButton("Copy link", () => addressOf(location.hash)), close)), ...rest);
  dialog.showModal();
  close.focus();
}

/** A title, and what is told; null where nothing is asked for, or what is not there. */
function dialogParts(data, {detail, detailTask, detailMetric}) {
  const runs = (detail ?? "").split(" ").map((id) => data.runs.find((run) => run.id === id)).filter(Boolean);
  if (!runs.length) return null;
  if (!detailTask) return [runs[0].label, ...oneRun(data, runs[0])];
  const found = data.entries.filter((one) => one.task.id === detailTask && one.metric.name === detailMetric && runs.includes(one.run));
  found.sort((a, b) => runs.indexOf(a.run) - runs.indexOf(b.run));
  return found.length ? [found[0].label, el("p", {}, plain(found[0].task.title)), ...found.map((one) => oneValue(data, one))] : null;
}

/** A dialog was closed by its button, a key or a click beside it: go back to where it was opened, or change the address. */
function leaveDialog() {
  if (document.getElementById("details").open || readState().detail === undefined) return;
  if (history.state?.dialog) history.back();
  else history.replaceState(null, "", linkTo({}));
}

/** What a published figure stands in. */
function paperOf(data, run) {
  const told = new Map(facts(data, run.provenance));
  const text = (key) => (told.get(key) ?? "").replace(/^"|"$/g, "");
  return text("paper") ? `${text("paper")}${text("table") ? `, table ${text("table")}` : ""}` : "a paper";
}

function oneRun(data, run) {
  const told = [
    ["Task", run.task], ["Source", run.published ? `${paperOf(data, run)} (published)` : run.source], ["Date", formatDate(run.date)],
    ["File", run.path], ["Samples", run.samples], ["Run", run.id],
  ];
  return [definitions(told.filter(([, value]) => value)), el("h3", {}, "How the run was made"), definitions(facts(data, run.provenance))];
}

function oneValue(data, entry) {
  const {metric, run} = entry;
  const told = [
    [metric.label, `${formatValue(entry.value, metric.unit, 2)} ${unitName(metric.unit)}`],
    [`${Math.round(100 * data.confidence)} % interval`, formatInterval(entry.low, entry.high, metric.unit) || "none"],
    ["Rows", entry.n ? formatCount(entry.n) : "not known"],
    ["Not scored", formatCount(entry.unscored)],
    ["Judge", entry.judge || "none"],
    ["Written by", entry.published ? `${paperOf(data, run)} (published, not measured here)` : run.source],
    ["Date", run.date ? formatDate(run.date) : "not known"],
    ["File", run.path],
    ["Run", run.id],
  ];
  const sections = [definitions(told)];
  if (entry.marks.length) {
    sections.unshift(el("div", {class: "note apart"}, el("strong", {}, "≠ Stands apart: "),
      el("ul", {}, entry.marks.map((mark) => el("li", {}, plain(mark))))));
  }
  const links = sampleLink(data, entry);
  if (links) sections.push(el("p", {}, links));
  sections.push(folded("What values must share to be compared", facts(data, data.groups[entry.group])));
  sections.push(folded("How the run was made", facts(data, run.provenance)));
  return el("section", {}, sections);
}

function definitions(pairs) {
  return el("dl", {}, pairs.map(([key, value]) => [el("dt", {}, plain(key)), el("dd", {}, plain(value))]));
}

function folded(title, pairs) {
  if (!pairs.length) return null;
  return el("details", {}, el("summary", {}, `${title} (${pairs.length})`), definitions(pairs));
}

/** A link to the samples behind an entry, or null where there are none. */
function sampleLink(data, entry) {
  if (typeof samplesOf !== "function" || !samplesOf(data, entry.run)) return null;
  const there = {view: "samples", run: entry.run.id, variant: entry.task.variant};
  return el("a", {href: linkTo(there, {})}, "Open the samples");
}
