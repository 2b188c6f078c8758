// What changed since the page before: models that are new, that moved, and that are gone.

const MAXIMUM_CHANGES = 30;

function changesOf() {
  const { changes } = report;
  if (!changes) return null;
  const isShown = ({ task }) =>
    report.tasks.some(({ id, scoring }) => id === task && scoring === choices.scoring);
  const moved = changes.moved.filter(isShown);
  const lines = [
    [`${count(changes.new.length, "new model")}`, changes.new.map(modelName)],
    [`${changes.removed.length} removed`, changes.removed.map(modelName)],
    [`${count(moved.length, "place")} changed`, moved.map(movedText)],
  ].filter(([, texts]) => texts.length);
  const since = `Since the page of ${changes.since.slice(0, 10)}`;
  if (!lines.length) return quiet(`${since} nothing changed.`);
  const summary = `${since}: ${lines.map(([name]) => name).join(", ")}`;
  const lists = lines.map(([name, texts]) => list(name, limited(texts)));
  return el("details", { class: "fold" }, el("summary", {}, summary), lists);
}

function limited(texts) {
  const more = texts.length - MAXIMUM_CHANGES;
  return more > 0 ? [...texts.slice(0, MAXIMUM_CHANGES), `and ${more} more`] : texts;
}

function movedText({ model, task, before, after }) {
  const name = report.names[task] || task;
  return `${modelName(model)}: rank ${before} to ${after}, ${name}`;
}
