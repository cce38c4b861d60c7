/* main.js - fills the page, and again when something else is chosen. */

function fillChooser (id, entries, selected) {
  byId(id).replaceChildren(...entries.map(([value, text]) =>
    element('option', { value, selected: String(value) === String(selected) }, text)));
}

function drawChoosers (view) {
  byId('case-label').hidden = report.cases.length < 2;
  fillChooser('case', report.cases.map((one, at) => [at, one.name]), state.case);
  const names = view.mappings.map(mapping => [mapping.name, `${mapping.place}. ${mapping.name}${detailed(mapping) ? '' : ' (table only)'}`]);
  fillChooser('shown', names, state.shown);
  fillChooser('other', names, state.other);
  for (const id of ['shown', 'other']) byId(id).parentElement.hidden = view.mappings.length < 2;
  byId('choosers').hidden = report.cases.length < 2 && view.mappings.length < 2;
}

/* Parts that say something only when there are mappings to compare. */
function drawParts (view) {
  drawSummary(view);
  drawChoosers(view);
  drawOrigin(view);
  drawFailed();
  const any = view.mappings.length > 0, several = view.mappings.length > 1;
  byId('ranking').hidden = !any;
  byId('sorted').closest('.pair').hidden = !several;
  byId('compare-section').hidden = !several;
  for (const id of ['failures-section', 'links-section', 'ccdf-section', 'ranks-section', 'places-section', 'matrix-section']) byId(id).hidden = !any;
  if (!any) return;
  drawFailures(view);
  drawRanking(view);
  if (several) {
    drawSorted(view);
    drawScatter(view);
    drawComparison(view);
  }
  drawLinks(view);
  drawLoadCurves(view);
  drawRanks(view);
  drawPlaces(view);
  drawMatrix(view);
}

let drawn = Promise.resolve();

/* Draws what state says; when several wishes come at once the last one stands. */
function draw () {
  drawn = drawn.catch(() => {}).then(async () => {
    if (!report.cases.length) return;
    await openCase(report.cases[state.case]);
    tip.hide();
    drawParts(currentView());
  });
  return drawn;
}

function choose (changes) {
  if ('case' in changes && changes.case !== state.case) {
    state.case = changes.case;
    byId('find').value = '';
    resetChoice();
  }
  Object.assign(state, changes);
  return draw();
}

function bindChoosers () {
  const bind = (id, name, read = value => value) =>
    byId(id).addEventListener('change', event => choose({ [name]: read(event.target.value) }));
  bind('case', 'case', Number);
  for (const name of ['shown', 'other', 'metric', 'scale', 'order']) bind(name, name);
}

async function start () {
  const failed = report.failed.length;
  byId('byline').textContent = [report.origin, `${group.format(report.runs)} run${report.runs === 1 ? '' : 's'}`, failed ? `${failed} failed` : '',
    `hopcast ${report.version ?? ''}`].filter(Boolean).join(' \u00b7 ');
  byId('page').hidden = false;
  state.case = Math.max(0, report.cases.findIndex(one => one.mappings.length > 0));
  if (report.cases.length) resetChoice();
  else byId('ranking-text').textContent = 'There are no runs yet.';
  bindChoosers();
  bindWindow(draw, () => { if (report.cases.length) drawParts(currentView()); });
  await draw();
  document.documentElement.dataset.ready = 'yes';
  if (location.hash === '#selftest') await selfTest();
}

start();
