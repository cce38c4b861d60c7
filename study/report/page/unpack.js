/* unpack.js - arrays of numbers in a page: base64 of zlib streams. */
'use strict';

async function inflate (base64) {
  const packed = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

/* What pack_values() of report.c wrote: the values, and whether they are exact. */
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
