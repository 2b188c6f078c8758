// Questions and responses for people: formulas by KaTeX, LaTeX and Markdown tables as tables.
// All else, and whatever cannot be read, stays the text that it is.

// The lengths and these numbers are limits, so that a hostile text cannot keep the browser busy.
// What is above a limit stays the text that it is.
const MAXIMUM_STYLED = 20000; // characters of a text
const MAXIMUM_FORMULAS = 150; // of a view
const MAXIMUM_FORMULA = 1500; // characters
const MAXIMUM_CELLS = 2000; // of a table
const MAXIMUM_MILLISECONDS = 200; // for all formulas and tables of a view
const spent = { view: 0, formulas: 0, milliseconds: 0 };

const PIECES = new RegExp(
  [
    /(?<code>^```[^]{0,6000}?^```)/,
    /(?<markdown>^[^\n|]{0,2000}\|[^\n]{0,4000}\n[ |:-]*-[ |:-]*\|[ |:-]*(?:\n[^\n|]{0,2000}\|[^\n]*)*)/,
    /\\begin\{tabular\}(?:\[\w\])?\{(?:[^{}\n]|\{[^{}\n]{0,40}\}){0,100}\}(?<tabular>[^]{0,6000}?)\\end\{tabular\}/,
    /(?<environment>\\begin\{(?<name>(?:equation|align|gather|cases|aligned)\*?)\}[^]{0,1500}?\\end\{\k<name>\})/,
    /\$\$(?<dollars>[^]{1,1500}?)\$\$/,
    /\\\[(?<brackets>[^]{1,1500}?)\\\]/,
    /\\\((?<parentheses>[^]{1,1500}?)\\\)/,
    // Two amounts of money are no formula: "from $5 to $7".
    /(?<![\\$\w])\$(?<dollar>[^\s$](?:[^\n$]{0,300}?[^\s$\\])?)\$(?![\d$])/,
  ]
    .map((pattern) => pattern.source)
    .join("|"),
  "gm",
);

function textBlock(text, attributes = {}) {
  const content = choices.plain ? text : pieces(text);
  return el("div", { class: "text", tabindex: 0, ...attributes }, content);
}

function pieces(text) {
  if (spent.view !== nDrawn) Object.assign(spent, { view: nDrawn, formulas: 0, milliseconds: 0 });
  const styled = text.slice(0, MAXIMUM_STYLED);
  const nodes = [];
  let end = 0;
  const begun = performance.now();
  for (const match of styled.matchAll(PIECES)) {
    if (spent.milliseconds + performance.now() - begun > MAXIMUM_MILLISECONDS) break;
    nodes.push(text.slice(end, match.index), piece(match[0], match.groups));
    end = match.index + match[0].length;
  }
  spent.milliseconds += performance.now() - begun;
  return [...nodes, text.slice(end)];
}

function piece(source, groups) {
  if (groups.code) return el("code", {}, source);
  if (groups.markdown) return tableOf(markdownRows(source), source);
  if (groups.tabular !== undefined) return tableOf(latexRows(groups.tabular), source);
  const display = groups.environment || groups.dollars || groups.brackets;
  return formula(source, display || groups.parentheses || groups.dollar, Boolean(display));
}

function formula(source, latex, displayMode) {
  spent.formulas += 1;
  if (latex.length > MAXIMUM_FORMULA || spent.formulas > MAXIMUM_FORMULAS) return source;
  const node = el("span", { class: displayMode ? "display" : "inline" }, source);
  const options = {
    displayMode,
    throwOnError: true,
    strict: "ignore",
    maxSize: 20,
    maxExpand: 200,
  };
  const show = () => {
    if (spent.milliseconds > MAXIMUM_MILLISECONDS) return;
    const rendered = el("span");
    const begun = performance.now();
    try {
      window.katex.render(latex, rendered, options);
      node.replaceChildren(rendered);
    } catch {
      // No formula: the text stays.
    }
    spent.milliseconds += performance.now() - begun;
  };
  loadKatex().then(show, () => {});
  return node;
}

let katex = null;

function loadKatex() {
  if (!katex) {
    document.head.append(el("link", { rel: "stylesheet", href: "page/katex.min.css" }));
    katex = loadScript("katex.min.js");
  }
  return katex;
}

function markdownRows(source) {
  const lines = source.split("\n").filter((_, index) => index !== 1);
  return lines.map((line) => {
    const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
    return inner.split(/(?<!\\)\|/).map((text) => text.replaceAll("\\|", "|"));
  });
}

function latexRows(source) {
  const rules =
    /\\(?:hline|toprule|midrule|bottomrule)|\\c(?:mid|)(?:line|rule)(?:\(\w+\))?\{[\d-]+\}/g;
  const lines = source.replaceAll(rules, "").split(/\\\\(?:\[[^\]]*\])?/);
  const rows = lines.filter((line) => line.trim());
  return rows.map((line) => line.split(/(?<!\\)&/).map((text) => text.replaceAll("\\&", "&")));
}

function tableOf(rows, source) {
  const nCells = rows.reduce((sum, row) => sum + row.length, 0);
  if (!rows.length || nCells > MAXIMUM_CELLS) return source;
  const [head, ...body] = rows;
  const cells = (row, tag) => row.map((text) => el(tag, {}, cellContent(text.trim())));
  return el(
    "table",
    { class: "quoted" },
    el("thead", {}, el("tr", {}, cells(head, "th"))),
    el(
      "tbody",
      {},
      body.map((row) => el("tr", {}, cells(row, "td"))),
    ),
  );
}

const STYLED = /^(?:\*\*(?<stars>[^*]+)\*\*|\\text(?:bf|it)\{(?<latex>[^{}]*)\})$/;
const ESCAPED = /\\([%$#_])/g; // LaTeX's signs in the text of a table

function cellContent(text) {
  const match = STYLED.exec(text);
  const plain = match ? (match.groups.stars ?? match.groups.latex) : text;
  const nodes = pieces(plain).map((node) =>
    typeof node === "string" ? node.replaceAll(ESCAPED, "$1") : node,
  );
  return match ? el("strong", {}, nodes) : nodes;
}
