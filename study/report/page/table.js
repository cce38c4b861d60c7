/* table.js - tables that sort by any column. */

/* Rows that are drawn at once; the rest on demand. */
const pageRows = 400;

function compareValues (left, right) {
  if (typeof left === 'string' || typeof right === 'string')
    return String(left).localeCompare(String(right), 'en', { numeric: true });
  const a = left ?? NaN, b = right ?? NaN;
  if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
  return a - b;
}

/* columns: { name, unit, text: left aligned, value (row), cell (row) -> text or node, title (row) };
 * options: { sort: index of a column, rowClass (row), caption }.  Columns without a value do not
 * sort.  Returns { node, show (rows) }. */
function sortableTable (columns, rows, options = {}) {
  let sorted = options.sort ?? -1, ascending = true, limit = pageRows, current = rows;
  const body = element('tbody');
  const heads = columns.map((column, index) => {
    const label = [column.name, ...(column.unit ? [element('small', {}, column.unit)] : [])];
    return element('th', { scope: 'col', class: column.text ? 'text' : null },
      ...(column.value ? [element('button', { type: 'button', onclick: () => sortBy(index) }, column.name),
                          ...label.slice(1)] : label));
  });
  const table = element('table', {},
    ...(options.caption ? [element('caption', { class: 'unseen' }, options.caption)] : []),
    element('thead', {}, element('tr', {}, ...heads)), body);

  function row (data) {
    return element('tr', { class: options.rowClass ? options.rowClass(data) : null },
      ...columns.map(column => element('td', {
        class: [column.text && 'text', column.long && 'long'].filter(Boolean).join(' ') || null,
        title: column.title ? column.title(data) : null }, column.cell(data))));
  }
  function fill () {
    const list = [...current];
    if (sorted >= 0)
      list.sort((a, b) => (ascending ? 1 : -1) * compareValues(columns[sorted].value(a), columns[sorted].value(b)));
    body.replaceChildren(...list.slice(0, limit).map(row));
    if (list.length > limit)
      body.append(element('tr', {}, element('td', { class: 'text', colspan: columns.length },
        element('button', { type: 'button', onclick: () => { limit = Infinity; fill(); } },
          `Show all ${list.length} rows`))));
    heads.forEach((head, index) => {
      if (columns[index].value)
        head.setAttribute('aria-sort', index !== sorted ? 'none' : ascending ? 'ascending' : 'descending');
    });
  }
  function sortBy (index) {
    ascending = index === sorted ? !ascending : !columns[index].falling;
    sorted = index;
    fill();
    tip.say(`Sorted by ${columns[index].name}, ${ascending ? 'ascending' : 'descending'}`);
  }
  fill();
  return { node: table, show (list) { current = list; fill(); }, fill };
}
