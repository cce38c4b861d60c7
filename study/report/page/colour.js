/* colour.js - colours of values and of lines, for light and for dark pages.
 *
 * The scales are straight walks through the OKLCH colour space: lightness changes
 * evenly and the hue only runs between yellow and blue, so that the order of the
 * colours is seen by everybody and on grey paper.  More is always farther from
 * the colour of the page. */

const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const currentTheme = () => darkQuery.matches && !printing ? 'dark' : 'light';

const themes = {
  light: { ink: '#1c2430', soft: '#5b6675', line: '#e3e6ea', paper: '#ffffff', none: '#eceef1',
           best: '#0b6fb8', first: '#1c2430', worst: '#c8500a', shown: '#8a3fa0', other: '#1b8a5f',
           compute: '#0b6fb8', wait: '#e39a2d', rest: '#8d98a6' },
  dark: { ink: '#e6e9ee', soft: '#9aa5b4', line: '#2c3440', paper: '#1a1f27', none: '#262c36',
          best: '#5fb3f0', first: '#e6e9ee', worst: '#f58f4d', shown: '#d294e6', other: '#57d3a1',
          compute: '#4ba3e3', wait: '#e9b04f', rest: '#6d7886' },
};

function gamma (linear) {
  const value = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
}

/* OKLCH to [red, green, blue], 0..255 (B. Ottosson's matrices). */
function oklch (lightness, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  return [gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)];
}

const hex = rgb => '#' + rgb.map(value => value.toString(16).padStart(2, '0')).join('');

/* t from 0 (nothing) to 1 (the most): pale yellow, green, blue, nearly black. */
function sequential (t, theme) {
  const depth = theme === 'dark' ? 1 - t : t;
  return hex(oklch(0.965 - 0.72 * depth, 0.045 + 0.095 * Math.sin(Math.PI * (0.08 + 0.9 * depth)),
                   105 + 165 * depth));
}

/* t from -1 (blue) over 0 (the page) to 1 (orange). */
function diverging (t, theme) {
  const depth = Math.abs(t), dark = theme === 'dark';
  const lightness = dark ? 0.27 + 0.55 * depth : 0.97 - 0.5 * depth;
  return hex(oklch(lightness, 0.16 * depth ** 0.8, t < 0 ? 250 : 52));
}

const steps = 255;
const ramps = {};

/* The colour of t in a table of 256, or 511 for a scale with two ends. */
function rampColour (kind, t, theme) {
  const name = kind + theme;
  ramps[name] ||= kind === 'diverging' ?
    Array.from({ length: 2 * steps + 1 }, (_, at) => diverging(at / steps - 1, theme)) :
    Array.from({ length: steps + 1 }, (_, at) => sequential(at / steps, theme));
  const at = kind === 'diverging' ? Math.round((t + 1) * steps) : Math.round(t * steps);
  return ramps[name][Math.min(ramps[name].length - 1, Math.max(0, at))];
}
