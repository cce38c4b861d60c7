/* film.js - the page of link loads over time: one frame of the heat maps, and the strip of all frames. */

const film = JSON.parse(byId('data').textContent);
const levels = 255, busiestRows = 12;
const state = { frame: 0, playing: false, timer: 0, chosen: -1 };

/* --- Figures --- */

const codeOf = (frame, link) => film.loads[frame * film.links + link];
const shareOf = (frame, link) => codeOf(frame, link) * film.most / levels;
const percent = share => `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
const beginOf = frame => frame * film.merged * film.every_us * 1e-6;

/* Where the length of the only interval is not known, there is no time. */
const timeText = frame => film.every_us > 0 ? brief(beginOf(frame), 's') : 'the only interval';

function rateText (frame) {
  const intervals = Math.min(film.merged, film.intervals - frame * film.merged);
  const bytes = film.wire_bytes[frame], seconds = intervals * film.every_us * 1e-6;
  return `${brief(bytes, 'bytes')} on all links${seconds > 0 ? `, ${brief(bytes / seconds, 'bytes')}/s` : ''}`;
}

/* Of each frame the mean and the largest load, and the link that has it. */
function summarize () {
  const { frames, links } = film;
  Object.assign(film, { mean: new Float64Array(frames), largest: new Float64Array(frames), busiest: new Int32Array(frames) });
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0, most = 0;
    for (let link = 0; link < links; link++) {
      const code = codeOf(frame, link);
      sum += code;
      if (code > most) [most, film.busiest[frame]] = [code, link];
    }
    film.mean[frame] = sum / links * film.most / levels;
    film.largest[frame] = most * film.most / levels;
  }
}

/* --- Places and names of links --- */

/* Links of a torus that are not in the file have no place in the arrays: their cells are empty. */
async function openTorus (machine) {
  const layout = torusLayout(machine), number = torusLinks(machine.shape, machine.wrap);
  const ports = await unpackIntegers(machine.ports), linkOf = new Map();
  ports.forEach((place, link) => linkOf.set(number[place], link));
  for (const grid of layout.grids)
    grid.members = grid.members.map(list => list.filter(at => linkOf.has(at)).map(at => linkOf.get(at)));
  const across = 2 * machine.shape.length;
  film.nameOf = link => `${'ABCDEF'[ports[link] % across >> 1]}${ports[link] % 2 ? '+' : '-'} of ` +
    coordinatesOf(machine.shape, Math.floor(ports[link] / across)).join(',');
  return layout;
}

function openFabric (machine) {
  film.nameOf = link => linkName(machine.devices, machine.links, link);
  return fabricLayout(machine);
}

/* --- Drawing --- */

/* The values of a frame in the cells of the grids. */
function fill (frame) {
  const shares = film.shares ||= new Float64Array(film.links);
  for (let link = 0; link < film.links; link++) shares[link] = shareOf(frame, link);
  for (const grid of film.layout.grids) grid.values = cellValues(grid, shares);
}

/* The busiest of the links of a cell in this frame; -1: there is none. */
const linkIn = (grid, cell) => grid.members[cell].reduce((best, link) =>
  best < 0 || codeOf(state.frame, link) > codeOf(state.frame, best) ? link : best, -1);

function cellText (grid, cell) {
  const link = linkIn(grid, cell);
  if (link < 0) return `${grid.where(cell) || 'no link'}\nnever sent anything`;
  const several = grid.members[cell].length > 1 ? `${grid.where(cell)}: busiest of ${grid.members[cell].length}\n` : '';
  return `${several}${film.nameOf(link)}\n${percent(shareOf(state.frame, link))} of its bandwidth`;
}

function chooseLink (link) {
  state.chosen = state.chosen === link ? -1 : link;
  drawStrip();
}

function drawGrids () {
  fill(state.frame);
  for (const grid of film.layout.grids) grid.text = cell => cellText(grid, cell);
  const log = byId('scale').value === 'log' && film.most > 0;
  const scale = { kind: 'sequential', max: film.most, log: log ? film.most / levels : 0, unit: '%' };
  film.repaint = heatFigure(byId('links'), film.layout.grids, scale, {
    title: `Link loads of ${film.title}`, dims: film.layout.dims, panel: 520, across: 1, none: 'sent nothing in all the time',
    choose: (grid, cell) => { if (linkIn(grid, cell) >= 0) chooseLink(linkIn(grid, cell)); } });
}

/* The strip: mean, busiest and chosen link by time.  A point says what its frame is. */
function drawStrip () {
  const frames = [...Array(film.frames).keys()], link = state.chosen;
  const curve = (name, colour, of, more) => ({ name, colour, line: true, points: frames.map(frame => [beginOf(frame), of(frame)]),
    choose: show, text: frame => `${timeText(frame)}\n${name}: ${percent(of(frame))}\n${more(frame)}` });
  const series = [curve('mean of all links', 'best', frame => film.mean[frame], rateText),
                  curve('busiest link', 'worst', frame => film.largest[frame], frame => film.nameOf(film.busiest[frame]))];
  if (link >= 0) series.push(curve(film.nameOf(link), 'shown', frame => shareOf(frame, link), rateText));
  film.plot = drawChart(byId('strip'), { title: `Link loads of ${film.title} over time`, x: 'time', y: 'share of the bandwidth',
    xUnit: 's', yUnit: '%', yZero: true, height: 210, xRange: [0, beginOf(Math.max(1, film.frames - 1)) || 1], series });
  film.line = element('div', { class: 'now' });
  film.plot.over.append(film.line);
  queueMicrotask(placeLine); /* uPlot has its scales after a task of its own */
}

function placeLine () {
  film.line.style.left = `${film.plot.valToPos(beginOf(state.frame), 'x')}px`;
}

function drawBusiest () {
  const order = [...Array(film.links).keys()].filter(link => codeOf(state.frame, link) > 0)
    .sort((a, b) => codeOf(state.frame, b) - codeOf(state.frame, a) || a - b).slice(0, busiestRows);
  const cell = (text, kind = 'td', name = '') => element(kind, { class: name }, text);
  byId('busiest').replaceChildren(element('table', {},
    element('thead', {}, element('tr', {}, cell('link', 'th', 'text'), cell('share of its bandwidth', 'th'))),
    element('tbody', {}, ...order.map(link => element('tr', {},
      element('td', { class: 'text' }, element('button', { type: 'button', onclick: () => chooseLink(link) }, film.nameOf(link))),
      cell(percent(shareOf(state.frame, link))))))));
}

/* --- The film --- */

function show (frame) {
  state.frame = Math.max(0, Math.min(film.frames - 1, frame));
  byId('frame').value = state.frame;
  byId('frame').setAttribute('aria-valuetext', timeText(state.frame));
  byId('when').textContent = `${timeText(state.frame)} (frame ${state.frame + 1} of ${film.frames}): ${rateText(state.frame)}`;
  fill(state.frame);
  film.repaint();
  placeLine();
  drawBusiest();
}

/* At the end it begins again. */
function play (wanted) {
  clearInterval(state.timer);
  state.playing = wanted && film.frames > 1;
  byId('play').textContent = state.playing ? 'Pause' : 'Play';
  if (!state.playing) return;
  if (state.frame === film.frames - 1) show(0);
  state.timer = setInterval(() => {
    show(state.frame + 1);
    if (state.frame === film.frames - 1) play(false);
  }, 1000 / byId('speed').value);
}

function bindControls () {
  const step = by => {
    play(false);
    show(state.frame + by);
  };
  byId('play').addEventListener('click', () => play(!state.playing));
  byId('back').addEventListener('click', () => step(-1));
  byId('forth').addEventListener('click', () => step(1));
  byId('frame').addEventListener('input', event => {
    play(false);
    show(Number(event.target.value));
  });
  byId('speed').addEventListener('change', () => play(state.playing));
  byId('scale').addEventListener('change', drawGrids);
  document.addEventListener('keydown', event => {
    if (event.target !== document.body) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(by);
    else if (event.key === ' ') play(!state.playing);
    else return;
    event.preventDefault();
  });
}

function drawAll () {
  drawGrids();
  drawStrip();
  show(state.frame);
}

/* #frame=N, from 1, behind the address: where the film begins. */
const frameWanted = () => Number(/^#frame=(\d+)$/.exec(location.hash)?.[1] ?? 1) - 1;

async function start () {
  const words = film.merged > 1 ? `each frame the mean of ${group.format(film.merged)} intervals` : '';
  byId('byline').textContent = [film.origin, `${group.format(film.links)} links`,
    film.every_us > 0 ? `${group.format(film.intervals)} intervals of ${brief(film.every_us * 1e-6, 's')}` : '', words,
    `hopcast ${film.version}`].filter(Boolean).join(' \u00b7 ');
  byId('page').hidden = false;
  byId('frame').max = film.frames - 1;
  if (film.links === 0) {
    for (const id of ['choosers', 'strip-section', 'links-section', 'busiest-section']) byId(id).hidden = true;
    byId('nothing').hidden = false;
  } else {
    film.loads = new Uint8Array(await inflate(film.codes));
    film.layout = film.machine.kind === 'torus' ? await openTorus(film.machine) : openFabric(film.machine);
    byId('links-text').textContent = (film.layout.dims ? `A panel per direction; in each, all nodes (${film.layout.axes}). ` : '') +
      `Loads are shares of the bandwidth of each link, in steps of ${percent(film.most / levels)}.`;
    summarize();
    state.frame = Math.max(0, Math.min(film.frames - 1, frameWanted()));
    drawAll();
    bindControls();
    bindWindow(drawAll);
    await new Promise(resolve => setTimeout(resolve, 0)); /* uPlot draws in a task of its own */
  }
  document.documentElement.dataset.ready = 'yes';
  if (location.hash === '#selftest') selfTest();
}

/* --- The page tries itself when its address ends in #selftest --- */

function selfTest () {
  const results = [], check = (name, ok, got) => results.push({ name, ok: Boolean(ok), got: String(got) });
  const pictures = () => [...byId('links').querySelectorAll('canvas')].map(canvas => canvas.toDataURL()).join();
  const rows = () => [...byId('busiest').querySelectorAll('tbody tr')].map(row => row.textContent);
  try {
    const fullest = film.largest.indexOf(Math.max(...film.largest));
    show(fullest);
    const before = pictures(), line = film.line.style.left;
    check('busiest first', rows()[0] === film.nameOf(film.busiest[fullest]) + percent(film.most), rows()[0]);
    if (film.frames > 1) {
      const other = fullest > 0 ? -1 : 1;
      byId(other < 0 ? 'back' : 'forth').click();
      check('a step', state.frame === fullest + other && byId('frame').value === String(state.frame), state.frame);
      check('another frame, other colours', pictures() !== before, '');
      check('the line moves', film.line.style.left !== line, film.line.style.left);
      byId('frame').value = fullest;
      byId('frame').dispatchEvent(new Event('input'));
      check('back by the slider', pictures() === before, '');
      byId('play').click();
      check('it plays', state.playing && byId('play').textContent === 'Pause', '');
      byId('play').click();
      check('it pauses', !state.playing && byId('play').textContent === 'Play', '');
      show(fullest);
    }
    if (film.frames * film.links > 1) {
      byId('scale').value = 'log';
      byId('scale').dispatchEvent(new Event('change'));
      check('logarithmic colours', film.loads.every(code => code === 0 || code === levels) || pictures() !== before, '');
    }
    const canvas = byId('links').querySelector('canvas');
    canvas.focus();
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }));
    check('a link by keyboard', !byId('tip').hidden && /of its bandwidth|never sent/.test(byId('said').textContent), byId('said').textContent);
    canvas.blur();
    const button = byId('busiest').querySelector('button');
    button.click();
    check('its curve', byId('strip').textContent.includes(button.textContent), byId('strip').textContent);
    const download = HTMLAnchorElement.prototype.click;
    HTMLAnchorElement.prototype.click = () => {}; /* the file itself is not wanted here */
    for (const save of document.querySelectorAll('figcaption button')) {
      save.click();
      const parsed = new DOMParser().parseFromString(lastSaved.text, 'image/svg+xml');
      check(`saved ${lastSaved.name}`, !parsed.querySelector('parsererror') && parsed.querySelectorAll('path').length >= 1 &&
        !/NaN|undefined|Infinity/.test(lastSaved.text), `${lastSaved.text.length} bytes`);
    }
    HTMLAnchorElement.prototype.click = download;
    testPaper(check);
  } catch (error) {
    check('no exception', false, error.stack);
  }
  const wrong = results.filter(result => !result.ok);
  document.body.append(element('pre', { id: 'selftest' }, JSON.stringify({
    checks: results.length, failed: wrong.length, wrong, results }, null, 1)));
}

start();
