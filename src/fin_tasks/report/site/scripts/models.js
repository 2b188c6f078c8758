// Models: what board.yaml and the maintainers say of them, and the reader's choice among them.

const WEIGHTS = { "": "any", open: "open", closed: "not open" };
const RECORDED = { "": "shown", hide: "hidden", only: "only these" };
const TYPING = 250; // milliseconds without a key until the choice counts

function addModelChoices(models) {
  if (models.length < 3) return;
  addSearch("Find models", "models");
  const families = [...new Set(models.map((model) => report.families[model]))].filter(Boolean);
  if (families.length > 1) {
    const options = families.sort().map((name) => [name, name]);
    addChoice("Family", "family", [["", "all"], ...options]);
  }
  const isKnown = (model) => typeof report.models[model]?.open_weights === "boolean";
  if (models.some(isKnown)) addChoice("Weights", "weights", Object.entries(WEIGHTS));
  if (models.some(isRecorded)) {
    addChoice("Recorded models", "recorded", Object.entries(RECORDED));
  }
}

// `fin-tasks recordings` names the models so.
const isRecorded = (model) => model.startsWith("recorded/");

function addSearch(name, key) {
  let timer = 0;
  const oninput = ({ target }) => {
    clearTimeout(timer);
    timer = setTimeout(() => go({ [key]: target.value }), TYPING);
  };
  const input = el("input", { id: key, type: "search", value: choices[key] || "", oninput });
  byId("filters").append(el("label", {}, name, input));
}

function isModelChosen(model) {
  const known = report.models[model] || {};
  const { open_weights: isOpen = null } = known;
  if (choices.family && report.families[model] !== choices.family) return false;
  if (choices.weights && isOpen !== (choices.weights === "open")) return false;
  if (choices.recorded && isRecorded(model) !== (choices.recorded === "only")) return false;
  const words = (choices.models || "").toLowerCase().split(/\s+/).filter(Boolean);
  const texts = [model, known.name, known.size, known.license, known.submitter].filter(Boolean);
  const text = texts.join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

// Return a model's name with what is known of it.
function modelCell(model) {
  const { size, license, open_weights: isOpen, link: href, submitter } = report.models[model] || {};
  const facts = [size, license].filter(Boolean);
  if (isOpen === true) facts.push("open weights");
  if (isOpen === false) facts.push("closed weights");
  const name = modelName(model);
  const linked = href ? el("a", { href, rel: "noreferrer" }, name) : name;
  return [
    // One's own models stand out.
    isRecorded(model) ? el("span", {}, linked) : strong(linked),
    isRecorded(model) && small("recorded by the benchmark's authors"),
    facts.length > 0 && small(facts.join(", ")),
    submitter && small(`run by ${submitter}`),
    admissionsOf(model).map(admissionDetails),
  ];
}

const admissionsOf = (model) => {
  const runs = report.runs.filter((run) => run.model === model && run.admission);
  return [...new Set(runs.map((run) => run.admission))].map((key) => report.admissions[key]);
};

// What the maintainers checked of a submission, and what it only claims.
function admissionDetails({ submission, submitter, admitted_at: date, items }) {
  const claims = items.filter(({ status }) => status === "claimed");
  const checked = items.length - claims.length;
  const summary = `${checked} checked, ${claims.length} claimed`;
  const by = [submission, submitter && `by ${submitter}`].filter(Boolean).join(" ");
  const lines = items.map(({ name, status, sentence }) =>
    el("li", {}, strong(`${name}, ${status}: `), sentence),
  );
  const about = `Admitted ${date.slice(0, 10)}: ${by}`;
  return el(
    "details",
    { class: "small" },
    el("summary", {}, summary),
    quiet(about),
    el("ul", {}, lines),
  );
}
