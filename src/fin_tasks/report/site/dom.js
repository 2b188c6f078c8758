// Elements, made without ever reading text as HTML: what models and strangers wrote only becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element. `props`: attributes; `on`: {event: listener}; `style`: {property: value}. Children: nodes or text. */
function el(name, props = {}, ...children) {
  return fill(document.createElement(name), props, children);
}

/** Likewise, of SVG. */
function svg(name, props = {}, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

function fill(node, {on = {}, style = {}, ...attributes}, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  for (const [key, value] of Object.entries(style)) node.style.setProperty(key, value);  // CSSOM: allowed by the policy
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// What cannot be seen is shown as what it is, as two names could look alike, or show their letters in another order than
// they have them: controls, marks that turn the direction of text, blank letters, halves of letters. Only what joins
// emoji or chooses the form of one is left as it is.
const EMOJI = "\\p{Extended_Pictographic}\\p{Emoji_Modifier}";
const UNSEEN = new RegExp(`(?!(?<=[${EMOJI}\\ufe0f])\\u200d[${EMOJI}]|(?<=[${EMOJI}])\\ufe0f)(?![\\t\\n])`
  + "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]", "gu");

/** Text of strangers as it may stand in a line: nothing hidden in it. */
function plain(text) {
  return String(text).replace(UNSEEN, (found) => {
    const code = found.codePointAt(0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** A select with a label; `options`: [value, text] each. */
function choice(label, options, value, onChange) {
  const select = el("select", {on: {change: () => onChange(select.value)}});
  for (const [key, text] of options) select.append(el("option", {value: key, selected: key === value}, plain(text)));
  return el("label", {class: "field"}, el("span", {}, label), select);
}

/** A tick box with a label. */
function tick(label, checked, onChange) {
  const box = el("input", {type: "checkbox", checked, on: {change: () => onChange(box.checked)}});
  return el("label", {class: "tick"}, box, label);
}

/** A box to search in; tells what is typed when it has not changed for a moment. */
function searchBox(label, value, onChange) {
  let timer = 0;
  const box = el("input", {type: "search", value, autocomplete: "off", spellcheck: "false"});
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(box.value), 120);
  });
  return el("label", {class: "field"}, el("span", {}, label), box);
}

/** A button that copies an address; where the browser does not allow that, the address is there to be selected. */
function copyButton(label, address) {
  const button = el("button", {type: "button", on: {click: async () => {
    try {
      await navigator.clipboard.writeText(address());
      button.textContent = "Copied";
      announce("Copied");
    } catch {
      const box = el("input", {type: "text", readonly: true, class: "address", value: address(), "aria-label": label});
      button.replaceWith(box);
      box.select();
    }
  }}}, label);
  return button;
}

/** Tell a screen reader what has changed. */
function announce(text) {
  document.getElementById("status").textContent = text;
}

// Chromium asks for a trusted address before it loads a script; this is the only one that is given.
const sidecars = globalThis.trustedTypes?.createPolicy("sidecars", {
  createScriptURL(path) {
    if (!/^[\w-]+(\/[\w-]+)*\.js$/.test(path)) throw new TypeError(`not a file beside the page: ${path}`);
    return path;
  },
});

/** Load a script beside the page (`folder/name.js`, nothing else); fetch() is refused from disk. */
function loadSidecar(path) {
  return new Promise((resolve, reject) => {
    if (!/^[\w-]+(\/[\w-]+)*\.js$/.test(path)) throw new TypeError(`not a file beside the page: ${path}`);
    const script = document.createElement("script");
    script.addEventListener("load", () => { script.remove(); resolve(); });
    script.addEventListener("error", () => { script.remove(); reject(new Error(`${path} is not beside the page`)); });
    script.src = sidecars ? sidecars.createScriptURL(path) : path;
    document.head.append(script);
  });
}
