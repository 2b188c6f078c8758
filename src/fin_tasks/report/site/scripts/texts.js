// Questions and responses for people: formulas by KaTeX, LaTeX and Markdown tables as tables.
// All else, and whatever cannot be read, stays the text that it is.

// The lengths are limits, so that a hostile text cannot keep the browser busy.
const PIECES = new RegExp(
  [
    /(?<code>^```[^]{0,20000}?^```)/,
    /(?<markdown>^[^\n|]{0,2000}\|[^\n]{0,4000}\n[ |:-]*-[ |:-]*\|[ |:-]*(?:\n[^\n|]{0,2000}\|[^\n]*)*)/,
    /\\begin\{tabular\}(?:\[\w\])?\{[^\n]{0,200}?\}(?<tabular>[^]{0,20000}?)\\end\{tabular\}/,
    /(?<environment>\\begin\{(?<name>(?:equation|align|gather|cases|aligned)\*?)\}[^]{0,4000}?\\end\{\k<name>\})/,
    /\$\$(?<dollars>[^]{1,4000}?)\$\$/,
    /\\\[(?<brackets>[^]{1,4000}?)\\\]/,
    /\\\((?<parentheses>[^]{1,2000}?)\\\)/,
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
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(PIECES)) {
    nodes.push(text.slice(end, match.index), piece(match[0], match.groups));
    end = match.index + match[0].length;
  }
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
  const node = el("span", { class: displayMode ? "display" : "inline" }, source);
  const options = {
    displayMode,
    throwOnError: true,
    strict: "ignore",
    maxSize: 20,
    maxExpand: 200,
  };
  const show = () => {
    const rendered = el("span");
    try {
      window.katex.render(latex, rendered, options);
      node.replaceChildren(rendered);
    } catch {
      // No formula: the text stays.
    }
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
  if (!rows.length) return source;
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
