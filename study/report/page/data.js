/* data.js - the data of the page: unpacked when they are first asked for. */
'use strict';

const report = JSON.parse(document.getElementById('data').textContent);
const columnIndex = new Map(report.columns.map(([name], index) => [name, index]));
const unitOf = name => (report.columns[columnIndex.get(name)] || ['', ''])[1];

/* The value of a column for a mapping: the median where it is what is ranked. */
function valueOf (mapping, column, ranked) {
  return column === ranked ? mapping.value : mapping.values[columnIndex.get(column)];
}

async function inflate (base64) {
  const packed = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

/* study_pack_values(): the values, and whether they are exact. */
async function unpackValues (packed) {
  const codes = new Uint8Array(await inflate(packed.codes));
  const levels = packed.levels;
  let error = 0;
  if (!packed.exact) error = Math.sqrt(levels[levels.length - 1] / levels[1]) ** (1 / 254) - 1;
  return { values: Float64Array.from(codes, code => levels[code]), exact: packed.exact, error };
}

async function unpackFloats (base64) {
  const view = new DataView(await inflate(base64));
  return Float64Array.from({ length: view.byteLength / 4 }, (_, at) => view.getFloat32(4 * at, true));
}

async function unpackIntegers (base64) {
  const view = new DataView(await inflate(base64));
  return Uint32Array.from({ length: view.byteLength / 4 }, (_, at) => view.getUint32(4 * at, true));
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
