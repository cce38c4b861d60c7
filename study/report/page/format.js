/* format.js - numbers for people: four digits with a prefix, or exactly. */

const timePrefixes = [[1, 's'], [1e-3, 'ms'], [1e-6, '\u00b5s'], [1e-9, 'ns'], [1e-12, 'ps']];
const decimalPrefixes = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
const group = new Intl.NumberFormat('en', { maximumFractionDigits: 12 });

const digits = value => String(+value.toPrecision(4));
const allDigits = value => value.toPrecision(4);

/* "1.234 ms", "12.3 MB", "3.2k": what is read at a glance; `column`: as many digits as in the
 * other rows. */
function brief (value, unit, column = false) {
  if (value === null || value === undefined || !isFinite(value)) return '\u2013';
  const size = Math.abs(value), prefixed = column ? allDigits : digits;
  if (unit === 's') {
    const [scale, name] = timePrefixes.find(([scale]) => size >= scale) || timePrefixes[value ? 4 : 0];
    return `${prefixed(value / scale)} ${name}`;
  }
  if (unit === '%') return `${prefixed(100 * value)} %`;
  const [scale, prefix] = size >= 1e4 || (unit === 'bytes' && size >= 1e3) ?
    decimalPrefixes.find(([scale]) => size >= scale) : [1, ''];
  const text = prefix ? prefixed(value / scale) : digits(value);
  return unit === 'bytes' ? `${text} ${prefix}B` : text + prefix;
}

/* All that is known: "1,234,567 bytes", "0.001234567 s". */
function exact (value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return 'not known';
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-3 ? String(value) : group.format(value);
  return unit ? `${text} ${unit}` : text;
}

const times = (ratio, fraction = 3) => isFinite(ratio) && ratio !== null ? `${ratio.toFixed(fraction)}\u00d7` : '\u2013';

/* A load: exact, or how far it may be off. */
const load = (value, loads) => loads.exact || value === 0 ? exact(value, 'bytes') :
  `about ${brief(value, 'bytes')} (within ${(100 * loads.error).toFixed(1)} %)`;

/* Figures of seconds and bytes carry their unit themselves; that of others stands beside the name. */
const carriesUnit = unit => unit === 's' || unit === 'bytes';
const named = (name, unit) => unit && !carriesUnit(unit) && name !== unit ? `${name} (${unit})` : name;
