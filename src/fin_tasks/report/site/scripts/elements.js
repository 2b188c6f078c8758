// Elements of the page. Texts of models and of strangers' files become text nodes: nothing here
// makes HTML of a string.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "line", "circle", "polygon", "text", "title"]);
const byId = (id) => document.getElementById(id);

function el(tag, attributes = {}, ...children) {
  const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (!isMissing(value)) node.setAttribute(name, value);
  }
  const content = children.flat(9).filter((child) => child !== "" && !isMissing(child));
  node.append(...content);
  return node;
}

const isMissing = (value) => value === null || value === undefined || value === false;
const quiet = (...children) => el("p", { class: "quiet" }, children);
const small = (...children) => el("span", { class: "small" }, children);
const strong = (...children) => el("strong", {}, children);

function notes(texts) {
  const parts = texts.flatMap((text) => [el("span", { class: "note" }, text), " "]);
  return el("span", {}, parts);
}

function definitions(pairs) {
  const items = pairs.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]);
  return el("dl", {}, items);
}

const more = (name, ...children) => el("details", {}, el("summary", {}, name), children);

function list(heading, texts) {
  if (!texts.length) return [];
  const items = texts.map((text) => el("li", {}, text));
  return [el("h3", {}, heading), el("ul", {}, items)];
}

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const isNarrow = () => window.innerWidth <= 700;
