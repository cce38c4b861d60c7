/* torus.js - where the links of a torus are drawn: one panel per dimension and
 * direction, and in each panel all nodes, laid out alike. */

/* Which dimensions run down, so that a panel is about as wide as high. */
function splitDimensions (shape) {
  let best = 0, badness = Infinity;
  for (let mask = 0; mask < 1 << shape.length; mask++) {
    const [rows, columns] = shape.reduce(([r, c], size, at) =>
      mask >> at & 1 ? [r * size, c] : [r, c * size], [1, 1]);
    const bad = Math.abs(Math.log(columns / rows / 1.1));
    if (bad < badness - 1e-9) [best, badness] = [mask, bad];
  }
  return best;
}

/* A line of paper before each step of the slower dimensions that share an axis, unless
 * there would be nearly as many lines as nodes. */
const leastBlock = 8;

function axisGaps (sizes) {
  const n = sizes.reduce((product, size) => product * size, 1);
  const gaps = new Int32Array(n);
  let block = n;
  for (const size of sizes.slice(0, -1)) {
    block /= size;
    if (block < leastBlock && block * 2 < n) break;
    for (let at = block; at < n; at += block) gaps[at] += 1;
  }
  return gaps;
}

function coordinatesOf (shape, node) {
  const at = new Array(shape.length);
  for (let dimension = shape.length - 1; dimension >= 0; dimension--) {
    at[dimension] = node % shape[dimension];
    node = Math.floor(node / shape[dimension]);
  }
  return at;
}

/* { width, height, xGaps, yGaps, node: node of each cell, axes: words }. */
function nodeLayout (shape) {
  const mask = splitDimensions(shape);
  const down = [...shape.keys()].filter(dimension => mask >> dimension & 1);
  const across = [...shape.keys()].filter(dimension => !(mask >> dimension & 1));
  const product = list => list.reduce((value, dimension) => value * shape[dimension], 1);
  const width = product(across), height = product(down);
  const node = new Int32Array(width * height);
  for (let number = 0; number < node.length; number++) {
    const at = coordinatesOf(shape, number);
    const place = list => list.reduce((value, dimension) => value * shape[dimension] + at[dimension], 0);
    node[place(down) * width + place(across)] = number;
  }
  const letters = list => list.map(dimension => 'ABCDEF'[dimension]).join('');
  return { width, height, node, xGaps: axisGaps(across.map(d => shape[d])), yGaps: axisGaps(down.map(d => shape[d])),
           axes: down.length ? `${letters(across)} across, ${letters(down)} down` : `${letters(across)} across` };
}

/* The number that a link has among those that exist, -1 where there is none. */
function torusLinks (shape, wrap) {
  const nodes = shape.reduce((product, size) => product * size, 1), ports = 2 * shape.length;
  const number = new Int32Array(nodes * ports).fill(-1);
  let next = 0;
  for (let node = 0; node < nodes; node++) {
    const at = coordinatesOf(shape, node);
    for (let port = 0; port < ports; port++) {
      const dimension = port >> 1, size = shape[dimension];
      const inside = port & 1 ? at[dimension] + 1 < size : at[dimension] > 0;
      if (size > 1 && (wrap[dimension] || inside)) number[node * ports + port] = next++;
    }
  }
  return number;
}

/* The panels of link loads: { grids: [{ title, width, height, link }], axes, dims: true }. */
function torusLayout (machine) {
  const { shape, wrap } = machine, layout = nodeLayout(shape), links = torusLinks(shape, wrap);
  const ports = [...Array(2 * shape.length).keys()].filter(port => shape[port >> 1] > 1);
  const grids = ports.map(port => {
    const name = 'ABCDEF'[port >> 1] + (port & 1 ? '+' : '\u2212');
    return { ...layout, title: name, members: Array.from(layout.node, node => {
      const link = links[node * 2 * shape.length + port];
      return link < 0 ? [] : [link];
    }), where: cell => `${name} of node (${coordinatesOf(shape, layout.node[cell]).join(',')})`,
      nodeOf: cell => layout.node[cell] };
  });
  return { grids, dims: true, axes: layout.axes, nodes: layout };
}
