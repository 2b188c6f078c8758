// What the charts share: colours and shapes of models, a legend, a description for who does not see them.

const MOST = 7;  // models in one chart: no more colours and shapes are told apart

/** A colour and a shape of its own for each name. */
function looks(names) {
  return new Map(names.map((name, at) => [name, {color: `var(--series-${at % MOST + 1})`, shape: Plot.symbolsFill[at % Plot.symbolsFill.length]}]));
}

function shapeOf(shape, color) {
  return svg("svg", {class: "key", viewBox: "-8 -8 16 16", "aria-hidden": "true"},
    svg("path", {d: Plot.symbol(shape, 60)(), style: {fill: color}}));
}

function plotLegend(found) {
  return el("ul", {class: "keys"}, [...found].map(([name, {color, shape}]) => (
    el("li", {}, shapeOf(shape, color), el("bdi", {}, plain(name))))));
}

/** What a chart may show together: published figures, and values that stand apart, only where they are asked for. */
function together(state) {
  return (one) => (one.published ? state.published !== "0" : !one.marks.length || state.apart === "mixed");
}

/** The choice of the address, else the first with something of a run to show, else with anything. `parts`: choice to its entries. */
function chosenPart(parts, wanted, state) {
  if (parts.has(wanted)) return wanted;
  const fits = (of) => [...parts].find(([, entries]) => entries.some((one) => together(state)(one) && of(one)))?.[0];
  return fits((one) => !one.published) ?? fits(() => true) ?? parts.keys().next().value;
}

/** Why a chart has nothing to show, and what would show something. */
function nothingShown(found) {
  const hidden = found.filter((one) => one.published);
  const told = [
    found.length > hidden.length ? "tick “Mix in what is kept apart”, as these values stand apart from the others of their task" : null,
    hidden.length ? "tick “Published figures”" : null,
  ].filter(Boolean);
  return el("p", {class: "note"}, `Nothing to show: ${told.join(", or ")}.`);
}

function togetherTicks(state) {
  return [
    tick("Published figures", state.published !== "0", (on) => setState({published: on ? "" : "0"})),
    tick("Mix in what is kept apart", state.apart === "mixed", (on) => setState({apart: on ? "mixed" : ""})),
  ];
}

/** Tick boxes to choose which models a chart has; the first few where nothing is chosen. */
function modelChooser(names, state) {
  const at = new Map(names.map((name, place) => [name, place]));
  const chosen = state.models ? names.filter((name) => state.models.split(" ").map(Number).includes(at.get(name))) : names.slice(0, MOST);
  const open = document.getElementById("models")?.open ?? false;
  const boxes = names.map((name) => tick(plain(name), chosen.includes(name), (on) => {
    const next = names.filter((other) => (other === name ? on : chosen.includes(other)));
    setState({models: next.map((other) => at.get(other)).join(" ")});
  }));
  const chooser = el("details", {id: "models", class: "columns", open}, el("summary", {}, `Models (${Math.min(chosen.length, MOST)} of ${names.length}; at most ${MOST} at once)`),
    el("div", {class: "ticks"}, boxes));
  return [chooser, chosen.slice(0, MOST)];
}

/** Draw a chart as wide as there is room, and again when that changes. */
function figure(caption, render) {
  const frame = el("div", {class: "chart"});
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(frame.clientWidth);
    if (!now || Math.abs(now - width) < 8) return;
    width = now;
    const drawn = render(width);
    drawn.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));  // names of marks, such as "rule"
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${caption}. The table below has the numbers.`);
    frame.replaceChildren(drawn);
  }).observe(frame);
  return el("figure", {}, frame, el("figcaption", {}, plain(caption)));
}
