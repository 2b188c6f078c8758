// Where a number comes from: all that is known of an entry and its run.

/** Show an entry's details. `entries`: those of one cell, what the cell shows first. */
function openDetails(data, entries) {
  const dialog = document.getElementById("details");
  const [entry] = entries;
  const close = el("button", {type: "button", class: "close", on: {click: () => dialog.close()}}, "Close");
  dialog.replaceChildren(
    el("header", {}, el("h2", {id: "details-title"}, plain(entry.label)), close),
    el("p", {}, plain(entry.task.title)),
    ...entries.map((one) => oneValue(data, one)),
  );
  dialog.showModal();
  close.focus();
}

function oneValue(data, entry) {
  const {metric, run} = entry;
  const told = [
    [metric.label, `${formatValue(entry.value, metric.unit, 2)} ${unitName(metric.unit)}`],
    [`${Math.round(100 * data.confidence)} % interval`, formatInterval(entry.low, entry.high, metric.unit) || "none"],
    ["Rows", entry.n ? formatCount(entry.n) : "not known"],
    ["Not scored", formatCount(entry.unscored)],
    ["Judge", entry.judge || "none"],
    ["Written by", entry.published ? "the authors of a paper (published, not measured here)" : run.source],
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
  return el("a", {href: linkTo(there, {}), on: {click: () => document.getElementById("details").close()}}, "Open the samples");
}
