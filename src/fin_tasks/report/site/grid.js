// A table that sorts, and that arrow keys move through.

const MANY = 800;  // cells

/**
 * Make a table.
 *
 * `columns`: {key, title, note, numeric, sort(row) -> number | string | null, cell(row) -> node | text,
 * open(row) -> function | null, className(row), best: "" or "-", the order to begin with}; the first column names the
 * row. `rows`: anything.
 * `sort`: "key" or "-key" (largest first). `onSort(sort)` is told of a new order. `width`: of each column but the first,
 * for tables with many: where there are many cells, rows out of sight are not laid out, so that sorting takes no time.
 */
function grid({caption, columns, rows: items, sort, onSort, className = "", width = null}) {
  const rest = columns.length - 1;
  const many = width && items.length * rest > MANY;
  const table = el("table", {
    class: `grid ${className} ${width ? "wide" : ""} ${many ? "many" : ""}`, role: "grid", "aria-rowcount": items.length + 1,
    style: width ? {"--columns": `var(--first) repeat(${rest}, ${width})`, "--total": `calc(var(--first) + ${rest} * ${width})`} : {},
  }, el("caption", {}, caption));
  const heads = columns.map((column) => head(column, (key) => order(key)));
  table.append(el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, heads)));
  const body = el("tbody", {role: "rowgroup"});
  const made = items.map((item) => ({item, line: line(columns, item)}));
  table.append(body);

  function order(wanted, told = true) {
    const key = wanted.replace(/^-/, "");
    const column = columns.find((one) => one.key === key);
    if (!column) {
      body.append(...made.map((one) => one.line));
      return;
    }
    const sign = wanted.startsWith("-") ? -1 : 1;
    const values = new Map(made.map((one) => [one, column.sort(one.item)]));
    made.sort(compareBy((one) => values.get(one), sign));
    body.append(...made.map((one) => one.line));
    heads.forEach((cell, at) => {
      const now = columns[at].key === key ? (sign > 0 ? "ascending" : "descending") : "none";
      if (columns[at].sort) cell.setAttribute("aria-sort", now);
      cell.dataset.next = now === "none" ? firstOrder(columns[at]) : (sign > 0 ? "-" : "");
    });
    if (told) {
      announce(`Sorted by ${column.title}, ${sign > 0 ? "smallest" : "largest"} first`);
      onSort?.(wanted);
    }
  }

  order(sort ?? "", false);
  roving(table);
  return el("div", {class: "scroll"}, table);
}

const NAMES = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

/** A comparison of items by a number or text of each: up for sign 1, down for -1; those that have none last in either. */
function compareBy(read, sign) {
  return (a, b) => {
    const [x, y] = [read(a), read(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : NAMES.compare(x, y));
  };
}

/** Numbers sort by the largest first unless a column says otherwise, names from A. */
function firstOrder({numeric, best}) {
  return best ?? (numeric ? "-" : "");
}

function head(column, order) {
  const cell = el("th", {scope: "col", role: "columnheader", tabindex: -1, class: column.numeric ? "number" : "", title: column.note ?? false});
  cell.dataset.next = firstOrder(column);
  if (!column.sort) {
    cell.append(plain(column.title));
    return cell;
  }
  cell.setAttribute("aria-sort", "none");
  cell.dataset.key = column.key;
  cell.append(el("span", {class: "sorter"}, plain(column.title)));
  cell.openCell = () => order(`${cell.dataset.next}${column.key}`);
  return cell;
}

function line(columns, item) {
  return el("tr", {role: "row"}, columns.map((column, at) => {
    const cell = el(at ? "td" : "th", {
      tabindex: -1, scope: at ? null : "row", role: at ? "gridcell" : "rowheader",  // what table cells lose in a wide table
      class: `${column.numeric ? "number " : ""}${column.className?.(item) ?? ""}`,
    }, column.cell(item));
    cell.openCell = column.open?.(item) ?? null;
    if (cell.openCell) cell.classList.add("opens");
    return cell;
  }));
}

/** One cell of the table is in the tab order; arrows, Home and End move on, Enter and space open. */
function roving(table) {
  const cellAt = (line_, column) => table.rows[line_]?.cells[column];
  let current = cellAt(0, 0);
  if (current) current.tabIndex = 0;
  table.addEventListener("focusin", ({target}) => {
    const cell = target.closest("th, td");
    if (!cell || cell === current) return;
    if (current) current.tabIndex = -1;
    current = cell;
    cell.tabIndex = 0;
  });
  table.addEventListener("click", ({target}) => {
    const cell = target.closest("th, td");
    if (cell && !target.closest("a, button, input")) cell.openCell?.();
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("th, td");
    if (event.target !== cell || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      if (cell.openCell) cell.openCell();
      else cell.querySelector("a, button")?.focus();
      event.preventDefault();
      return;
    }
    const [down, right] = [cell.parentElement.rowIndex, cell.cellIndex];
    const last = [table.rows.length - 1, cell.parentElement.cells.length - 1];
    const to = {
      ArrowUp: [Math.max(0, down - 1), right], ArrowDown: [Math.min(last[0], down + 1), right],
      ArrowLeft: [down, Math.max(0, right - 1)], ArrowRight: [down, Math.min(last[1], right + 1)],
      Home: [down, 0], End: [down, last[1]],
      PageUp: [Math.max(0, down - 15), right], PageDown: [Math.min(last[0], down + 15), right],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    cellAt(...to).focus();
  });
}
