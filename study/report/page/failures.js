/* failures.js - what each single part that is out costs the mapping that is shown. */

const asPercent = share => share === null ? '\u2013' : `${share < 0 ? '\u2212' : '+'}${(100 * Math.abs(share)).toFixed(2)} %`;
const counted = (n, noun) => `${group.format(n)} ${noun}${n === 1 ? '' : 's'}`;
const knownParts = one => one.parts.filter(([, share]) => share !== null);

function failuresSentence (one) {
  const words = [one.fault === 'out' ? `${counted(one.parts.length, 'part')} out, one at a time:` :
    `${counted(one.parts.length, 'cable')} at ${one.fault}, one at a time:`];
  words.push(knownParts(one).length ?
    `the median costs ${asPercent(one.median)}, the worst, ${one.worst_part}, ${asPercent(one.worst)}; ` +
    `${group.format(one.slowed)} cost more than ${digits(100 * report.tie)} %.` : 'no slow-down is known.');
  if (one.failed) words.push(`Without ${counted(one.failed, 'part')} the job does not run.`);
  return words.join(' ');
}

/* All mappings, where there are several. */
function drawFailureMappings (list) {
  const place = byId('failures-mappings'), several = new Set(list.map(one => one.mapping)).size > 1;
  place.hidden = !several;
  if (!several) return;
  const number = (name, cell) => ({ name, value: one => one[name], cell });
  place.replaceChildren(sortableTable([
    { name: 'mapping', text: true, value: one => one.mapping,
      cell: one => element('button', { type: 'button', onclick: () => choose({ shown: one.mapping }) }, one.mapping) },
    { name: 'fault', text: true, value: one => one.fault, cell: one => one.fault },
    number('median', one => asPercent(one.median)), number('worst', one => asPercent(one.worst)),
    { name: 'worst part', text: true, value: one => one.worst_part ?? '', cell: one => one.worst_part ?? '' },
    number('slowed', one => String(one.slowed)), number('failed', one => String(one.failed)),
  ], list, { caption: 'Slow-down of the mappings by single failures', rowClass: one => one.mapping === state.shown ? 'shown' : null }).node);
}

function drawFailures (view) {
  const list = report.failures.filter(one => one.case === view.one.name), shown = list.filter(one => one.mapping === state.shown);
  if (!showSection('failures-section', shown.length > 0)) return;
  const known = shown.filter(one => knownParts(one).length), colours = ['shown', 'worst', 'first', 'soft'];
  byId('failures-text').textContent = [`Without a failure ${state.shown} has a ${view.result} of ${brief(shown[0].value, view.unit)}.`,
    ...shown.map(failuresSentence)].join(' ');
  byId('failures').hidden = !known.length;
  if (known.length)
    drawChart(byId('failures'), {
      title: `Slow-down by single failures, ${state.shown}`, x: 'parts, worst first', y: `slow-down of the ${view.result}, %`, xUnit: '', yUnit: '', yZero: true,
      series: known.map((one, at) => {
        const parts = knownParts(one);
        return { name: one.fault === 'out' ? 'part out' : `cable at ${one.fault}`, colour: colours[at % colours.length], line: true,
                 marks: parts.length > 200 ? 0 : 4, points: parts.map(([, share], index) => [index + 1, 100 * share]),
                 text: index => `${parts[index][0]}\n${asPercent(parts[index][1])}` };
      }) });
  drawFailureMappings(list);
  byId('failures-table').replaceChildren(sortableTable([
    { name: 'part', text: true, value: part => part[0], cell: part => part[0] },
    { name: 'slow-down', falling: true, value: part => part[1], cell: part => asPercent(part[1]), title: part => exact(part[1], '') },
    ...(shown.some(one => one.failed) ?
      [{ name: 'why the job does not run', text: true, long: true, value: part => part[2] ?? '', cell: part => part[2] ?? '' }] : []),
  ], shown.flatMap(one => one.parts), { caption: 'Parts, worst first' }).node);
}
