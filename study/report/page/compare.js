/* compare.js - two mappings side by side: their metrics, and which links differ. */

function comparedRows (view) {
  const { shown, other, one } = view;
  return report.columns.map(([name, unit]) => {
    const left = valueOf(shown, name, one.column), right = valueOf(other, name, one.column);
    return { name, unit, left, right, ratio: left === null || right === null || right === 0 ? null : left / right };
  }).filter(({ left, right }) => left !== null || right !== null);
}

function drawComparison (view) {
  const { shown, other } = view;
  if (!showSection('compare-section', Boolean(shown && other && shown !== other))) return;
  const ratio = other.value / shown.value;
  byId('compare-text').textContent = `${shown.name} and ${other.name}: ` + (ratio === 1 ? `the same ${view.result}.` :
    `${view.result} ${brief(shown.value, view.unit)} and ${brief(other.value, view.unit)}, ` +
    `${times(Math.max(ratio, 1 / ratio))} ${ratio > 1 ? 'less' : 'more'}.`);
  drawDifference(view);
  const value = side => ({ value: row => row[side], cell: row => brief(row[side], row.unit, true), title: row => exact(row[side], row.unit) });
  const table = sortableTable([
    { name: 'metric', text: true, value: row => row.name, cell: row => row.name },
    { name: 'unit', text: true, cell: row => carriesUnit(row.unit) ? '' : row.unit },
    { name: shown.name, ...value('left') }, { name: other.name, ...value('right') },
    { name: 'ratio', value: row => row.ratio, cell: row => times(row.ratio ?? NaN), title: row => exact(row.ratio, '') },
  ], comparedRows(view), { caption: `Metrics of ${shown.name} and ${other.name}` });
  byId('compare-table').replaceChildren(table.node);
}
