// Puts the views together: tabs, colours, and drawing what the address says.

const data = readData();

/** Draw the view of the address anew; the control that had the focus has it again. */
function draw() {
  const state = readState();
  const views = VIEWS.filter((view) => view.shown(data));
  const view = views.find((one) => one.id === state.view) ?? views[0];
  const tabs = document.getElementById("tabs");
  const held = holdFocus();
  tabs.replaceChildren(...views.map((one) => el("li", {}, el("a", {
    href: linkTo({view: one.id}), "aria-current": one === view ? "page" : null, id: `tab-${one.id}`,
  }, one.title))));
  const main = document.getElementById("main");
  const root = el("div", {class: `view ${view.id}`}, el("h2", {class: "unseen"}, view.title));
  try {
    view.draw(root, state, data);
  } catch (error) {
    root.append(el("p", {class: "note", role: "alert"}, plain(`This cannot be shown: ${error.message}`)));
    console.error(error);
  }
  main.replaceChildren(root);
  drawnState = linkTo({});
  held();
  showDialog(data);
}

/** Remember which control has the focus, by its label, and where its table is scrolled to; return what gives both back. */
function holdFocus() {
  const {activeElement: active} = document;
  const name = controlName(active);
  const {selectionStart, selectionEnd, type} = active;
  const scrolled = scrollOf(active);
  const [left, top] = [scrolled?.scrollLeft, scrolled?.scrollTop];
  return () => {
    if (active.isConnected) return;
    const controls = "#main :is(select, input, summary, button, [data-key]), #tabs a";
    const again = name && [...document.querySelectorAll(controls)].find((one) => controlName(one) === name);
    (again || document.getElementById("main")).focus({preventScroll: true});
    if (type === "search") again?.setSelectionRange(selectionStart, selectionEnd);
    const box = again && scrollOf(again);
    if (box && scrolled) [box.scrollLeft, box.scrollTop] = [left, top];
  };
}

/** The box that the table of a heading, or of a button below it, scrolls in. */
function scrollOf(control) {
  const within = control.closest("[data-key]") ? control.closest(".scroll") : null;
  return within ?? (control.id === "show-more" ? control.parentElement.previousElementSibling : null);
}

function controlName(control) {
  if (control.dataset.key) return `${[...document.querySelectorAll("#main .grid")].indexOf(control.closest(".grid"))} ${control.dataset.key}`;
  const label = control.closest("label");
  if (label) return `${control.tagName} ${(label.querySelector("span") ?? label).textContent}`;
  return control.tagName === "SUMMARY" ? control.parentElement.id : control.id || (control.tagName === "BUTTON" && control.textContent);
}

function setColours(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").value = theme;
}

/** Colours chosen are kept where the browser lets a page from disk keep anything. */
function keptColours(theme) {
  try {
    if (theme !== undefined) localStorage.setItem("fin-tasks-theme", theme);
    return localStorage.getItem("fin-tasks-theme") ?? "";
  } catch {
    return theme ?? "";
  }
}

document.getElementById("title").textContent = plain(data.title);
document.getElementById("subtitle").textContent = [counted(data.models, "model"), counted(data.tasks, "task"), counted(data.entries, "value")].join(", ")
  + ` · ${formatDate(data.generated)} UTC`;
document.getElementById("theme").addEventListener("change", ({target}) => setColours(keptColours(target.value)));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();  // the part behind # says what is shown, so the link must not change it
  document.getElementById("main").focus();
});
document.getElementById("details").addEventListener("click", ({target, currentTarget}) => {
  if (target === currentTarget) currentTarget.close();  // a click beside it
});
document.getElementById("details").addEventListener("close", leaveDialog);
addEventListener("popstate", () => (drawnState === linkTo({}) ? showDialog(data) : draw()));
setColours(keptColours());
draw();
