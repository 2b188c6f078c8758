// Tables. A column has a title, the content of a cell, and perhaps a key to sort by, a group, and a
// note for each cell. On a phone each row becomes a card that repeats the headings.

function table(name, columns, rows, options = {}) {
  const { kind = "", pageSize = Infinity, first = 0 } = options;
  const shown = columns.filter((column) => column.visible !== false);
  const body = el("tbody");
  const pages = el("p", { class: "pages" });
  let sorted = rows;
  let start = first - (first % pageSize || 0);

  function fill() {
    const end = start + pageSize;
    body.replaceChildren(...sorted.slice(start, end).map((row) => bodyRow(row, shown)));
    if (rows.length <= pageSize) return;
    const turn = (text, to) => {
      const onclick = () => {
        start = to;
        fill();
      };
      const disabled = to < 0 || to >= rows.length;
      return el("button", { type: "button", disabled, onclick }, text);
    };
    const text = `${start + 1} to ${Math.min(end, rows.length)} of ${rows.length}`;
    pages.replaceChildren(turn("Back", start - pageSize), text, turn("More", end));
  }

  // Without a column, the order is that of the rows.
  function sortBy(column) {
    if (!column) {
      sorted = rows;
      fill();
      return;
    }
    const head = heads[shown.indexOf(column)];
    const isDown = head.getAttribute("aria-sort") !== "descending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    sorted = [...rows].sort((a, b) => order(column.key(a), column.key(b), isDown ? -1 : 1));
    start = 0;
    fill();
  }

  const heads = shown.map((column) => headOf(column, sortBy));
  const groups = shown.some((column) => column.group) && el("tr", {}, groupHeads(shown));
  const head = el("thead", {}, groups, el("tr", {}, heads));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": name };
  const node = el("table", { class: `plain ${kind}`, "aria-label": name }, head, body);
  fill();
  return [sorting(name, shown, sortBy), el("div", region, node), pages];
}

// On a phone there are no heads to click on, so that a list of columns stands above the table.
function sorting(name, columns, sortBy) {
  const sortable = columns.filter((column) => column.key);
  if (sortable.length < 2) return "";
  const options = sortable.map((column, index) =>
    el("option", { value: index }, column.label || column.title),
  );
  const label = { "aria-label": `Sort ${name} by` };
  const select = el("select", label, el("option", { value: "" }, "as listed"), options);
  const onclick = () => sortBy(sortable[select.value]);
  select.addEventListener("change", onclick);
  const turn = el("button", { type: "button", onclick, "aria-label": "Turn the order round" }, "↕");
  return el("p", { class: "sorting" }, "Sort by ", select, turn);
}

function bodyRow(row, [first, ...others]) {
  const cells = others.map((column) => {
    const content = column.content(row) ?? null;
    const attributes = { "data-label": column.label || column.title, title: column.note?.(row) };
    if (content === null) attributes.class = "missing";
    return el("td", attributes, content ?? "–");
  });
  return el("tr", {}, el("th", { scope: "row" }, first.content(row)), cells);
}

function headOf(column, sortBy) {
  const { title, key, extra = null } = column;
  if (!key) return el("th", { scope: "col" }, title, extra);
  const onclick = () => sortBy(column);
  return el("th", { scope: "col" }, el("button", { type: "button", onclick }, title), extra);
}

function groupHeads(columns) {
  const heads = [];
  for (const { group = "" } of columns) {
    const last = heads.at(-1);
    if (last?.group === group) last.span += 1;
    else heads.push({ group, span: 1 });
  }
  return heads.map(({ group, span }) => {
    return el(group ? "th" : "td", { colspan: span, scope: group ? "colgroup" : null }, group);
  });
}

// What is missing comes last, whatever the direction.
function order(a, b, sign) {
  if (a === b) return 0;
  if (isAbsent(a)) return 1;
  if (isAbsent(b)) return -1;
  const isText = typeof a === "string";
  return sign * (isText ? b.localeCompare(a) : a - b);
}

const isAbsent = (key) => key === null || key === undefined || key === "";
