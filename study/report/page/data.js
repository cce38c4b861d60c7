/* data.js - the data of the page: unpacked when they are first asked for. */

const report = JSON.parse(document.getElementById('data').textContent);
const columnIndex = new Map(report.columns.map(([name], index) => [name, index]));
const unitOf = name => (report.columns[columnIndex.get(name)] || ['', ''])[1];

/* The value of a column for a mapping: the median where it is what is ranked. */
function valueOf (mapping, column, ranked) {
  return column === ranked ? mapping.value : mapping.values[columnIndex.get(column)];
}

async function unpackRanks (packed) {
  const [end, compute, wait] =
    await Promise.all([packed.end_s, packed.compute_s, packed.wait_s].map(unpackFloats));
  return { n: packed.n, end, compute, wait };
}

/* Adds .loads, .times and .firstRank to a mapping that has them. */
async function openMapping (mapping) {
  if (mapping.open) return;
  mapping.open = true;
  if (mapping.links) mapping.loads = await unpackValues(mapping.links);
  if (mapping.ranks) mapping.times = await unpackRanks(mapping.ranks);
  if (mapping.places) mapping.firstRank = await unpackIntegers(mapping.places);
}

async function openCase (one) {
  const trace = report.traces[one.trace];
  await Promise.all(one.mappings.map(openMapping));
  if (trace.matrix && !trace.bytes) trace.bytes = await unpackValues(trace.matrix.bytes);
}
