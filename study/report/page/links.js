/* links.js - heat maps: load of the links, difference of two, places of ranks, matrix. */

/* Pixels of a panel that stands beside another. */
const panelWidth = () => printing ? 330 : 520;

/* The scale is shared by all mappings of the case, so that pictures compare. */
function sharedScale (view) {
  let max = 0, least = Infinity;
  for (const mapping of view.mappings)
    if (mapping.loads)
      for (const value of mapping.loads.values) {
        if (value > max) max = value;
        if (value > 0 && value < least) least = value;
      }
  return { kind: 'sequential', max, log: state.scale === 'log' && least < max ? least : 0, unit: 'bytes' };
}

function rankAt (mapping, grid, cell) {
  if (!grid.nodeOf || !mapping.firstRank) return '';
  const rank = mapping.firstRank[grid.nodeOf(cell)];
  return rank === 0xffffffff ? '\nno ranks on that node' : `\nlowest rank there: ${rank}`;
}

function drawLinks (view) {
  const layout = layoutOf(view.machine), { shown } = view;
  const any = layout && view.mappings.some(mapping => mapping.loads);
  if (!showSection('links-section', Boolean(any))) return;
  if (!shown.loads) {
    byId('links-text').textContent = `The link loads of ${shown.name} are not in this page; --top takes more mappings in.`;
    byId('links').replaceChildren();
    return;
  }
  const n = view.mappings.filter(mapping => mapping.loads).length;
  byId('links-text').textContent = `${shown.name}: bytes that each link carries. ` +
    (layout.dims ? `A panel per direction; in each, all nodes (${layout.axes}). ` : '') +
    (n > 1 ? `The colours mean the same for all ${n} mappings whose links are in this page. ` : '') +
    (shown.loads.exact ? '' : `Loads are rounded to 255 steps (within ${(100 * shown.loads.error).toFixed(1)} %); study export has the exact ones.`);
  const grids = layout.grids.map(grid => {
    const values = cellValues(grid, shown.loads.values);
    return { ...grid, values, text: cell => isNaN(values[cell]) ? 'no link' :
      `${grid.where(cell)}\n${load(values[cell], shown.loads)}${rankAt(shown, grid, cell)}` };
  });
  heatFigure(byId('links'), grids, sharedScale(view), { title: `Load of the links, ${shown.name}`, none: 'no link', panel: panelWidth(), dims: layout.dims, across: 1 });
}

function drawDifference (view) {
  const layout = layoutOf(view.machine), { shown, other } = view, place = byId('difference');
  place.replaceChildren();
  if (!layout || !shown.loads || !other.loads || shown === other) return;
  let max = 0;
  const grids = layout.grids.map(grid => {
    const left = cellValues(grid, shown.loads.values), right = cellValues(grid, other.loads.values);
    const values = left.map((value, at) => value - right[at]);
    for (const value of values) if (Math.abs(value) > max) max = Math.abs(value);
    return { ...grid, values, text: cell => isNaN(values[cell]) ? 'no link' :
      `${grid.where(cell)}\n${shown.name}: ${load(left[cell], shown.loads)}\n${other.name}: ${load(right[cell], other.loads)}` };
  });
  heatFigure(place, grids, { kind: 'diverging', max, unit: 'bytes' },
    { title: `Links: ${shown.name} minus ${other.name}`, panel: panelWidth(), dims: layout.dims, across: 1, none: 'no link',
      words: [element('span', {}, `blue: ${shown.name} loads the link less; orange: more`)] });
}

function drawPlaces (view) {
  const layout = layoutOf(view.machine), { shown, one } = view;
  if (!showSection('places-section', Boolean(layout && shown.firstRank))) return;
  const width = Math.min(36, one.nodes);
  const nodes = layout.nodes || { width, height: Math.ceil(one.nodes / width), node: Int32Array.from({ length: width * Math.ceil(one.nodes / width) }, (_, at) => at) };
  const rank = cell => nodes.node[cell] < one.nodes ? shown.firstRank[nodes.node[cell]] : 0xffffffff;
  const values = Float64Array.from(nodes.node, (_, cell) => rank(cell) === 0xffffffff ? NaN : rank(cell));
  const name = cell => view.machine.kind === 'torus' ? `node (${coordinatesOf(view.machine.shape, nodes.node[cell]).join(',')})` : `node ${nodes.node[cell]}`;
  heatFigure(byId('places'), [{ ...nodes, title: `Lowest rank of each node${layout.axes ? ` (${layout.axes})` : ''}`, values,
    text: cell => isNaN(values[cell]) ? `${name(cell)}: no ranks` : `${name(cell)}\nlowest rank: ${values[cell]}` }],
    { kind: 'sequential', max: one.ranks - 1, log: 0, unit: '' }, { title: `Places of the ranks, ${shown.name}`, none: 'no ranks', panel: panelWidth() });
}

function drawMatrix (view) {
  const { matrix, bytes } = view.trace;
  if (!showSection('matrix-section', Boolean(matrix))) return;
  const { n, ranks } = matrix, per = ranks / n;
  const range = bin => per > 1 ? `ranks ${Math.ceil(bin * per)} to ${Math.ceil((bin + 1) * per) - 1}` : `rank ${bin}`;
  let max = 0, least = Infinity;
  for (const value of bytes.values) if (value > 0) [max, least] = [Math.max(max, value), Math.min(least, value)];
  const values = bytes.values.map(value => value > 0 ? value : NaN);
  heatFigure(byId('matrix'), [{ title: `Sender down, receiver across${per > 1 ? `; a cell is ${digits(per)} ranks by ${digits(per)}` : ''}`,
    width: n, height: n, values,
    text: cell => `${range(Math.floor(cell / n))} to ${range(cell % n)}\n${isNaN(values[cell]) ? 'nothing' : load(values[cell], bytes)}` }],
    { kind: 'sequential', max, log: least < max ? least : 0, unit: 'bytes' }, { title: 'Bytes from rank to rank', none: 'nothing', panel: panelWidth() });
}
