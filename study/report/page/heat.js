/* heat.js - grids of coloured cells: on a canvas, under the keyboard, as SVG.
 *
 * A grid: { title, width, height (in cells), values: Float64Array row by row, NaN where there is
 * nothing, text (cell): what a tip says, xGaps and yGaps: pixels before each column and row,
 * rowNames: words in the gap before the first column, most: pixels of a cell at most }.
 * A scale: { kind: 'sequential' | 'diverging', max, log: smallest value or 0, unit }. */

/* What a cell shows of its links: the load of one, the largest of several. */
function cellValues (grid, values) {
  return Float64Array.from(grid.members, links => {
    if (!links.length) return NaN;
    let most = values[links[0]];
    for (const link of links) if (values[link] > most) most = values[link];
    return most;
  });
}

/* Where on the scale a value is: 0..1, or -1..1. */
function position (scale, value) {
  if (scale.kind === 'diverging') return scale.max > 0 ? value / scale.max : 0;
  if (!(value > 0) || !(scale.max > 0)) return 0;
  if (scale.log && scale.max > scale.log)
    return 0.06 + 0.94 * Math.log(value / scale.log) / Math.log(scale.max / scale.log);
  return value / scale.max;
}

const cellColour = (scale, value, theme) =>
  isNaN(value) ? themes[theme].none : rampColour(scale.kind, position(scale, value), theme);

/* Paper has finer dots than most screens. */
const dotsPerPixel = () => printing ? 2 : Math.max(1, Math.round(window.devicePixelRatio || 1));

/* The largest cell that fits, of whole dots, so that all cells are alike. */
function cellSize (grid, wide, most) {
  const dots = dotsPerPixel(), before = grid.xGaps ? grid.xGaps[0] : 0;
  return Math.max(1 / dots, Math.min(most, Math.floor(dots * (wide - before) / grid.width) / dots));
}

/* Pixels of every column or row: where it starts, and where all end. */
function starts (n, gaps, cell) {
  const at = new Float64Array(n + 1);
  for (let index = 0, x = 0; index <= n; index++) {
    if (index < n && gaps) x += gaps[index];
    at[index] = x;
    x += cell;
  }
  at[n] = at[n - 1] + cell;
  return at;
}

/* Rows with names are as high as these. */
function placed (grid, cell) {
  const high = grid.rowNames ? Math.max(cell, 12) : cell;
  return { x: starts(grid.width, grid.xGaps, cell), y: starts(grid.height, grid.yGaps, high), cell, high };
}

function paint (canvas, grid, places, scale, theme) {
  const ratio = dotsPerPixel();
  const width = places.x[grid.width], height = places.y[grid.height];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = fontOf(12);
  context.textBaseline = 'middle';
  context.fillStyle = themes[theme].soft;
  (grid.rowNames || []).forEach((name, row) => context.fillText(name, 0, places.y[row] + places.high / 2));
  for (let at = 0; at < grid.values.length; at++) {
    context.fillStyle = cellColour(scale, grid.values[at], theme);
    context.fillRect(places.x[at % grid.width], places.y[Math.floor(at / grid.width)], places.cell, places.high);
  }
}

/* The cell under a point of the canvas; -1 in a gap. */
function cellAt (grid, places, x, y) {
  const find = (starts, n, size, value) => {
    for (let index = 0; index < n; index++)
      if (value >= starts[index] && value < starts[index] + size) return index;
    return -1;
  };
  const column = find(places.x, grid.width, places.cell, x), row = find(places.y, grid.height, places.high, y);
  return column < 0 || row < 0 ? -1 : row * grid.width + column;
}

function largestCell (grid) {
  let best = -1;
  for (let at = 0; at < grid.values.length; at++)
    if (!isNaN(grid.values[at]) && (best < 0 || Math.abs(grid.values[at]) > Math.abs(grid.values[best]))) best = at;
  return best;
}

/* Returns a function that tells the figures of the cell under the pointer again, when they have changed. */
function listen (canvas, grid, places, choose) {
  let cursor = -1, told = null;
  const tell = (cell, x, y) => {
    told = cell < 0 ? null : [cell, x, y];
    if (cell < 0) return tip.hide();
    tip.show(grid.text(cell), x, y);
  };
  const leave = () => {
    told = null;
    tip.hide();
  };
  canvas.addEventListener('pointermove', event => {
    const box = canvas.getBoundingClientRect();
    tell(cellAt(grid, places, event.clientX - box.left, event.clientY - box.top), event.clientX, event.clientY);
  });
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('blur', leave);
  if (choose) canvas.addEventListener('click', () => { if (told) choose(grid, told[0]); });
  canvas.addEventListener('keydown', event => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.width, ArrowDown: grid.width };
    if (event.key === 'Escape') return leave();
    if (event.key === 'Enter' && choose && cursor >= 0) choose(grid, cursor);
    if (event.key === 'End') cursor = largestCell(grid);
    else if (event.key in moves)
      cursor = cursor < 0 ? 0 : Math.min(grid.values.length - 1, Math.max(0, cursor + moves[event.key]));
    else return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    tell(cursor, box.left + places.x[cursor % grid.width] + places.cell,
         box.top + places.y[Math.floor(cursor / grid.width)]);
    tip.say(grid.text(cursor));
  });
  return () => { if (told) tell(...told); };
}

/* Ticks of the key: the ends, the middle. */
function keyTicks (scale) {
  if (scale.kind === 'diverging') return [-scale.max, 0, scale.max];
  if (scale.log && scale.max > scale.log) return [scale.log, Math.sqrt(scale.log * scale.max), scale.max];
  return [0, scale.unit ? scale.max / 2 : Math.round(scale.max / 2), scale.max];
}

const keyWidth = 220, keySteps = 44;

/* The scale as a strip with three figures, as the inside of an SVG. */
function keyBody (scale, theme, x, y) {
  const from = scale.kind === 'diverging' ? -1 : 0, width = keyWidth / keySteps;
  const strip = Array.from({ length: keySteps }, (_, at) =>
    `<rect x="${near(x + at * width)}" y="${y}" width="${near(width + 0.4)}" height="10" ` +
    `fill="${rampColour(scale.kind, from + (1 - from) * at / (keySteps - 1), theme)}"/>`);
  const ink = `fill="${themes[theme].soft}" font-size="11"`;
  const words = keyTicks(scale).map((value, at) => svgText(x + keyWidth * at / 2, y + 23,
    (scale.kind === 'diverging' && value > 0 ? '+' : '') + brief(value, scale.unit),
    `${ink} text-anchor="${['start', 'middle', 'end'][at]}"`));
  return strip.join('') + words.join('');
}

function keyNode (scale) {
  const theme = currentTheme();
  const holder = element('span', { class: 'key' });
  const parsed = new DOMParser().parseFromString(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${keyWidth + 2}" height="26" role="img">` +
    `<title>Colour scale</title>${keyBody(scale, theme, 1, 0)}</svg>`, 'image/svg+xml');
  holder.append(document.importNode(parsed.documentElement, true));
  return holder;
}

/* Cells of one colour are one path; neighbours in a row are one rectangle. */
function gridBody (grid, places, scale, left, top) {
  const paths = new Map();
  for (let row = 0; row < grid.height; row++)
    for (let column = 0; column < grid.width;) {
      const colour = cellColour(scale, grid.values[row * grid.width + column], 'light');
      const from = column++;
      while (column < grid.width && places.x[column] === places.x[column - 1] + places.cell &&
             cellColour(scale, grid.values[row * grid.width + column], 'light') === colour) column++;
      const width = (column - from) * places.cell;
      paths.set(colour, (paths.get(colour) || '') +
        `M${left + places.x[from]} ${top + places.y[row]}h${width}v${places.high}h${-width}z`);
    }
  const names = (grid.rowNames || []).map((name, row) => svgText(left, top + places.y[row] + places.high / 2 + 4, name));
  return [...paths].map(([colour, path]) => `<path fill="${colour}" d="${path}"/>`).join('') + names.join('');
}

/* Grids beside each other, `across` in a row (in columns when they are pairs of directions). */
function heatSvg (grids, layouts, scale, title, across) {
  let body = svgText(12, 22, title, 'font-size="14" font-weight="600"'), y = 52, width = keyWidth + 24;
  for (let first = 0; first < grids.length; first += across) {
    let x = 12, height = 0;
    for (let at = first; at < Math.min(grids.length, first + across); at++) {
      const places = layouts[at];
      body += svgText(x, y - 6, grids[at].title) + gridBody(grids[at], places, scale, x, y);
      x += places.x[grids[at].width] + 18;
      height = Math.max(height, places.y[grids[at].height]);
    }
    width = Math.max(width, x);
    y += height + 30;
  }
  return svgFile(width, y + 12, title, body + keyBody(scale, 'light', 12, y - 16));
}

/* Pixels for the panel of one direction, when the dimensions are beside each other, or on a
 * narrow page the two directions. */
function dimensionPanel (place, dimensions) {
  const across = window.matchMedia('screen and (max-width: 760px)').matches ? 2 : dimensions;
  return Math.min(320, Math.floor(place.clientWidth / across) - 26);
}

/* Fills a place of the page with grids and their key.  options: { title, panel: pixels that a grid
 * should be wide, dims: grids are pairs of directions, words: for the caption, none: what grey
 * cells are, choose (grid, cell): on a click or Enter }.  Returns a function that paints the grids again
 * after their values have changed. */
function heatFigure (place, grids, scale, options) {
  const theme = currentTheme();
  const layouts = grids.map(grid => {
    const wide = options.dims ? dimensionPanel(place, grids.length / 2) :
      Math.min(grid.panel || options.panel, place.clientWidth - 8);
    return placed(grid, cellSize(grid, wide, grid.most || 14));
  });
  const canvases = grids.map(() => element('canvas', { tabindex: 0, role: 'img' }));
  const retell = grids.map((grid, at) => listen(canvases[at], grid, layouts[at], options.choose));
  const repaint = () => grids.forEach((grid, at) => {
    const largest = largestCell(grid);
    canvases[at].setAttribute('aria-label', `${grid.title}${largest < 0 ? '' : '; largest: ' + grid.text(largest)}`);
    paint(canvases[at], grid, layouts[at], scale, theme);
    retell[at]();
  });
  repaint();
  const panels = grids.map((grid, at) =>
    element('div', { class: 'panel' }, element('span', {}, grid.title), canvases[at]));
  const order = options.dims ? [...grids.keys()].filter(at => at % 2 === 0).concat(
    [...grids.keys()].filter(at => at % 2)) : [...grids.keys()];
  const makeSvg = () => heatSvg(order.map(at => grids[at]), order.map(at => layouts[at]), scale, options.title,
                                options.dims ? grids.length / 2 : options.across || 4);
  const none = options.none && grids.some(grid => grid.values.some(isNaN)) ? [element('span', {}, `grey: ${options.none}`)] : [];
  place.replaceChildren(element('figure', {},
    element('div', { class: options.dims ? 'panels dims' : 'panels' }, ...panels),
    caption([keyNode(scale), ...(options.words || []), ...none], options.title, makeSvg)));
  return repaint;
}
