// What is shown is in the address behind the `#`, so that a link shows the same; and the views there are.

/** Views in the order of their tabs: {id, title, shown(data) -> boolean, draw(root, state, data)}. */
const VIEWS = [];

const DIALOG = {detail: "", detailTask: "", detailMetric: ""};  // keys of what lies over a view
let drawnState = "";  // the address that the view is drawn by, without them

/** The address's keys and values, as an object. */
function readState() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address of the view shown now with some keys changed; empty, null and false take a key away. */
function linkTo(changes, from = readState()) {
  const next = new URLSearchParams();
  for (const [key, value] of Object.entries({...from, ...DIALOG, ...changes})) {
    if (value !== "" && value !== null && value !== undefined && value !== false) next.set(key, value);
  }
  return `#${next}`;
}

/** The whole address of what `linkTo` names. */
function addressOf(hash) {
  return `${location.href.split("#")[0]}${hash}`;
}

/**
 * Change some keys. `keep`: what is drawn already shows the change (a table that sorted itself), so nothing is drawn
 * anew; `replace`: no step of the browser's history.
 */
function setState(changes, {keep = false, replace = false} = {}) {
  const hash = linkTo(changes);
  if (hash === location.hash) return;
  history[replace || keep ? "replaceState" : "pushState"](null, "", hash);
  if (keep) drawnState = linkTo({});
  else draw();
}
