/* ranking.js - the summary of a case and the table of its mappings. */

const tableMetrics = ['wait_s_avg', 'max_bytes', 'avg_hops_per_byte', 'max_dilation', 'max_buffer', 'max_FIFO'];

/* A long value, such as the path of a fabric, keeps its beginning and its end; all of it is the title. */
function summaryTile (name, value, small) {
  const shown = value.length > 40 ? `${value.slice(0, 12)}\u2026${value.slice(-27)}` : value;
  return element('div', {}, element('dt', {}, name), element('dd', { title: value }, shown, element('small', {}, small)));
}

function drawSummary (view) {
  const { best, worst, first, one, unit, mappings } = view, tiles = [];
  if (best) tiles.push(summaryTile(mappings.length > 1 ? 'Best mapping' : 'Mapping', best.name,
                                   `${view.result} ${brief(best.value, unit)}`));
  if (best && first && mappings.length > 1)
    tiles.push(summaryTile('Gain over the default', times(best.gain), `${first.name}: ${brief(first.value, unit)}`));
  if (mappings.length > 1)
    tiles.push(summaryTile('Worst against best', times(worst.value / best.value), `${worst.name}: ${brief(worst.value, unit)}`));
  tiles.push(summaryTile('Machine', view.machine.name,
    `${group.format(one.nodes)} nodes, ${group.format(one.ranks)} ranks, ${one.network} network`));
  if (mappings.length > 1 || one.failed)
    tiles.push(summaryTile('Mappings', String(mappings.length), one.failed ? `${one.failed} failed run${one.failed === 1 ? '' : 's'}` : 'no run failed'));
  byId('case-name').textContent = one.name;
  byId('summary').replaceChildren(...tiles);
  const told = view.machine.problem ? [`The links cannot be drawn: ${view.machine.problem}`] : [];
  byId('warnings').replaceChildren(...told.concat(one.warnings.slice(0, 8)).map(text => element('li', {}, text)));
}

function gainCell (view, mapping) {
  if (!isFinite(mapping.gain ?? NaN)) return times(NaN);
  const bar = element('i'), most = Math.max(...view.mappings.map(other => other.gain));
  bar.style.width = `${100 * mapping.gain / most}%`;
  return element('span', { class: 'gain' }, bar, times(mapping.gain));
}

function nameCell (view, mapping) {
  const cell = element('span', {}, element('button', { type: 'button', onclick: () => choose({ shown: mapping.name }) }, mapping.name));
  for (const role of rolesOf(view, mapping)) cell.append(element('span', { class: 'tag' }, role));
  return cell;
}

/* Whether there are 95 % intervals. */
function hasReplicas (view) {
  return view.mappings.some(mapping => isFinite(mapping.lower ?? NaN));
}

function rankingColumns (view) {
  const { one, mappings, unit } = view;
  const number = (name, heading, its) => ({ name: heading, unit: its,
    value: mapping => valueOf(mapping, name, one.column),
    cell: mapping => brief(valueOf(mapping, name, one.column), unitOf(name), true),
    title: mapping => exact(valueOf(mapping, name, one.column), unitOf(name)) });
  const known = name => name !== one.column && mappings.some(mapping => valueOf(mapping, name, one.column) !== null);
  return [
    { name: 'place', value: mapping => mapping.place, cell: mapping => String(mapping.place) },
    { name: 'mapping', text: true, long: mappings.some(mapping => mapping.name.length > 44), value: mapping => mapping.name, cell: mapping => nameCell(view, mapping) },
    number(one.column, view.result, carriesUnit(unit) ? '' : unit),
    ...(hasReplicas(view) ?
      [{ name: '95 % interval', unit: carriesUnit(unit) ? '' : unit, value: mapping => mapping.upper - mapping.lower,
         cell: mapping => isFinite(mapping.lower ?? NaN) ? `${brief(mapping.lower, view.unit)} to ${brief(mapping.upper, view.unit)}` : '',
         title: mapping => `${exact(mapping.lower, view.unit)} to ${exact(mapping.upper, view.unit)}: the mean of many replicas` }] : []),
    ...(view.first ? [{ name: 'gain', unit: 'over the default', falling: true, value: mapping => mapping.gain,
                        cell: mapping => gainCell(view, mapping), title: mapping => exact(mapping.gain, '') }] : []),
    ...tableMetrics.filter(known).map(name => number(name, name.replace(/_s_avg$/, ', mean'), carriesUnit(unitOf(name)) ? '' : unitOf(name))),
    ...(mappings.some(mapping => mapping.runs > 1) ? [{ name: 'runs', value: mapping => mapping.runs, cell: mapping => String(mapping.runs) }] : []),
  ];
}

/* Of a single mapping there is no ranking, but what was counted. */
function drawMetrics (view) {
  const known = report.columns.map(([name, unit]) => ({ name, unit, value: valueOf(view.best, name, view.one.column) }))
    .filter(({ value }) => value !== null);
  const table = sortableTable([
    { name: 'metric', text: true, value: row => row.name, cell: row => row.name },
    { name: 'value', value: row => row.value, cell: row => brief(row.value, row.unit, true), title: row => exact(row.value, row.unit) },
    { name: 'unit', text: true, cell: row => carriesUnit(row.unit) ? '' : row.unit },
  ], known, { caption: 'Metrics' });
  byId('ranking-head').textContent = 'Metrics';
  byId('ranking-text').textContent = 'What was counted; exact values when the pointer rests on one.';
  byId('ranking-tools').hidden = true;
  byId('ranking-table').replaceChildren(table.node);
}

function drawRanking (view) {
  if (view.mappings.length < 2) return drawMetrics(view);
  byId('ranking-head').textContent = 'Ranking';
  const find = byId('find');
  const table = sortableTable(rankingColumns(view), view.mappings, { sort: 0, caption: `Mappings by ${view.result}`,
    rowClass: mapping => mapping.name === state.shown ? 'shown' : null });
  const filter = () => {
    const wanted = find.value.toLowerCase();
    const list = view.mappings.filter(mapping => mapping.name.toLowerCase().includes(wanted));
    table.show(list);
    byId('found').textContent = wanted ? `${list.length} of ${view.mappings.length}` : '';
  };
  const repeated = view.mappings.some(mapping => mapping.runs > 1) ? ' Of several runs the mean counts.' : '';
  const tied = hasReplicas(view) ? 'mappings that replicas do not tell from the best of a place' : `mappings within ${digits(100 * report.tie)} % of the best of a place`;
  byId('ranking-text').textContent = `By ${view.result}, least first; ${tied} share it. ` +
    `Gain is the ${view.result} of the default mapping divided by that of the mapping.${repeated} A click on a name shows that mapping below.`;
  byId('ranking-tools').hidden = view.mappings.length < 8;
  byId('ranking-table').replaceChildren(table.node);
  find.oninput = filter;
  if (find.value) filter();
}
