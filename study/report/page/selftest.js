/* selftest.js - the page tries itself when its address ends in #selftest: sorts, chooses, reads
 * pixels, saves; what came of it is the JSON in the element "selftest" at the end. */

const scratch = document.createElement('canvas');

/* How many colours a canvas shows. */
function coloursOf (canvas) {
  const { width, height } = canvas;
  if (!width || !height) return 0;
  const context = scratch.getContext('2d', { willReadFrequently: true });
  Object.assign(scratch, { width, height });
  context.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  return new Set(pixels).size;
}

const picture = canvas => canvas.toDataURL();
/* What a column says, without the tags behind a name. */
const bodyCells = (table, column) => [...table.querySelectorAll('tbody tr')].filter(row => row.children.length > 1).map(({ children: { [column]: cell } }) =>
  (cell?.querySelector('button') || cell)?.textContent);

async function pick (id, value) {
  byId(id).value = value;
  byId(id).dispatchEvent(new Event('change'));
  await drawn;
  await new Promise(resolve => setTimeout(resolve, 0)); /* uPlot draws in a task of its own */
}

/* Every canvas of a visible part shows something. */
function testDrawn (check) {
  for (const id of ['sorted', 'scatter', 'failures', 'links', 'ccdf', 'ranks', 'places', 'matrix', 'difference']) {
    const canvases = [...byId(id).querySelectorAll('canvas')].filter(canvas => canvas.checkVisibility());
    if (!canvases.length) continue;
    check(`${id} drawn`, Math.max(...canvases.map(coloursOf)) >= 2, canvases.map(coloursOf).join(' '));
  }
}

function testSorting (check) {
  const table = byId('ranking-table').querySelector('table');
  if (!table || currentView().mappings.length < 2) return;
  const head = name => [...table.querySelectorAll('th')].findIndex(th => th.textContent.startsWith(name));
  const at = head('mapping'), before = bodyCells(table, at);
  const click = () => table.querySelectorAll('th')[at].querySelector('button').click();
  click();
  const up = bodyCells(table, at);
  check('ascending', up.every((text, row) => !row || compareValues(up[row - 1], text) <= 0), up.slice(0, 3).join(' | '));
  click();
  const down = bodyCells(table, at);
  check('descending', down.every((text, row) => !row || compareValues(down[row - 1], text) >= 0), down.slice(0, 3).join(' | '));
  check('aria-sort', table.querySelectorAll('th')[at].getAttribute('aria-sort') === 'descending', '');
  table.querySelectorAll('th')[0].querySelector('button').click();
  check('by place again', bodyCells(table, 0).join() === [...bodyCells(table, 0)].sort((a, b) => a - b).join() && before.length === up.length, before.length);
}

/* The part on top is the worst, and the sentence names it. */
function testFailures (check) {
  if (byId('failures-section').hidden) return;
  const shown = report.failures.filter(one => one.case === currentView().one.name && one.mapping === state.shown);
  const text = byId('failures-text').textContent, parts = shown.flatMap(one => one.parts).length;
  check('worst parts named', shown.every(one => one.worst_part === null || text.includes(`the worst, ${one.worst_part}, `)), text);
  check('a row for each part', bodyCells(byId('failures-table').querySelector('table'), 0).length === Math.min(pageRows, parts), parts);
}

/* The tile "Machine" names the machine, however long its spec is. */
function testMachineTile (check) {
  const tile = [...byId('summary').children].find(tile => tile.querySelector('dt').textContent === 'Machine');
  const value = tile.querySelector('dd'), shown = value.firstChild.textContent, { name } = currentView().machine;
  const [start, end] = shown.split('\u2026');
  check('machine named', value.title === name && (end === undefined ? shown === name : start && name.startsWith(start) && end && name.endsWith(end)), shown);
}

async function testChoosing (check) {
  const view = currentView(), canvas = () => byId('links').querySelector('canvas');
  const target = [...view.mappings].reverse().find(mapping => mapping.loads && mapping !== view.shown);
  if (target && canvas()) {
    const pictures = () => [...byId('links').querySelectorAll('canvas')].map(picture).join();
    const before = pictures();
    await pick('shown', target.name);
    check('another mapping, other colours', pictures() !== before, target.name);
    if (view.mappings.length <= pageRows)
      check('its row is marked', byId('ranking-table').querySelector('tr.shown')?.textContent.includes(target.name), '');
    await pick('other', view.shown.name);
    check('difference drawn', coloursOf(byId('difference').querySelector('canvas')) >= 2, '');
    const linear = pictures();
    await pick('scale', 'log');
    const { max } = sharedScale(currentView());
    if (target.loads.values.some(value => value > 0 && value < max / 2))
      check('logarithmic colours', pictures() !== linear, '');
    await pick('scale', 'linear');
  }
  const metric = [...byId('metric').options].find(option => !option.selected);
  if (metric && byId('metric').checkVisibility()) {
    const before = picture(byId('scatter').querySelector('canvas'));
    await pick('metric', metric.value);
    check('another metric', picture(byId('scatter').querySelector('canvas')) !== before, metric.value);
  }
  const button = byId('ranking-table').querySelector('tbody td button');
  if (button && view.mappings.length > 1) {
    button.click();
    await drawn;
    check('a name chooses', state.shown === button.textContent && byId('shown').value === state.shown, state.shown);
  }
}

/* Between two loads the share is that of the higher one: with 9 links at 0 and 1 at 10, a
 * tenth carries at least 5.  On the screen and in the file. */
async function testSteps (check) {
  const place = element('div'), height = 200;
  byId('page').append(place);
  const points = loadCurve([...new Array(9).fill(0), 10]);
  drawChart(place, { title: 'steps', x: '', y: '', xUnit: '', yUnit: '', height,
                     series: [{ name: 'steps', colour: 'best', line: true, step: true, points }] });
  await new Promise(resolve => setTimeout(resolve, 0)); /* uPlot draws in a task of its own */
  const canvas = place.querySelector('canvas'), wanted = themes[currentTheme()].best;
  const column = canvas.getContext('2d').getImageData(canvas.width / 2 | 0, 0, 1, canvas.height).data;
  const rows = [...new Array(canvas.height).keys()].filter(row => hex([...column.slice(4 * row, 4 * row + 3)]) === wanted);
  check('steps drawn', rows.length > 0 && rows[0] > canvas.height / 2, `${rows} of ${canvas.height}`);
  check('steps saved', seriesPath({ step: true, points }, x => x, y => 10 * y, [0, 1]) === 'M0 10V1H10', '');
  place.remove();
}

function testKeyboard (check) {
  for (const [id, selector] of [['links', 'canvas'], ['sorted', '.chart'], ['failures', '.chart'], ['ccdf', '.chart']]) {
    const target = byId(id).querySelector(selector);
    if (!target || !target.checkVisibility()) continue;
    target.focus();
    target.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    check(`${id} by keyboard`, document.activeElement === target && !byId('tip').hidden && byId('said').textContent.length > 3, byId('said').textContent);
    target.blur();
  }
  check('tip goes', byId('tip').hidden, '');
}

function testSaving (check) {
  const download = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = () => {}; /* the file itself is not wanted here */
  for (const button of document.querySelectorAll('figcaption button')) {
    if (!button.checkVisibility()) continue;
    button.click();
    const parsed = new DOMParser().parseFromString(lastSaved.text, 'image/svg+xml');
    check(`saved ${lastSaved.name}`, !parsed.querySelector('parsererror') && parsed.querySelectorAll('path').length >= 1 &&
      !/NaN|undefined|Infinity/.test(lastSaved.text), `${lastSaved.text.length} bytes`);
  }
  HTMLAnchorElement.prototype.click = download;
}

async function selfTest () {
  const results = [], check = (name, ok, got) => results.push({ name, ok: Boolean(ok), got: String(got) });
  try {
    for (let at = 0; at < report.cases.length; at++) {
      if (report.cases.length > 1) await pick('case', at);
      await pick('order', 'rank');
      testDrawn(check);
      testSorting(check);
      testMachineTile(check);
      testFailures(check);
      await testChoosing(check);
      testKeyboard(check);
      await testSteps(check);
      testSaving(check);
    }
    testPaper(check);
  } catch (error) {
    check('no exception', false, error.stack);
  }
  const wrong = results.filter(result => !result.ok);
  document.body.append(element('pre', { id: 'selftest' }, JSON.stringify({
    checks: results.length, failed: wrong.length, wrong, results }, null, 1)));
}
