/* origin.js - what failed, and where everything comes from. */

function drawFailed () {
  if (!showSection('failed-section', report.failed.length > 0)) return;
  const column = (name, key) => ({ name, text: true, value: row => row[key], cell: row => row[key] ?? '' });
  const table = sortableTable([column('trace', 'trace'), column('machine', 'machine'), column('network', 'network'), column('mapping', 'mapping'),
    ...(report.failed.some(row => row.repetition > 0) ? [column('repetition', 'repetition')] : []),
    { ...column('error', 'error'), long: true }], report.failed, { caption: 'Failed runs' });
  byId('failed').replaceChildren(table.node);
}

function definitions (pairs) {
  return element('dl', {}, ...pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
    .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, String(value))]));
}

function drawOrigin (view) {
  const { one, trace, machine, shown } = view;
  byId('origin').replaceChildren(
    definitions([['made by', `hopcast ${report.version}`], ['made from', report.origin],
      ['runs', `${group.format(report.runs)}, ${group.format(report.failed.length)} of them failed`],
      ['trace', trace.name], ['hash of the trace', trace.hash], ['machine', machine.name], ['hash of the machine', machine.hash],
      ['network', one.network], ['routing', one.routing], ['shrink', one.shrink], ['compute scale', one.compute_scale],
      ['ranks', `${group.format(one.ranks)}, ${one.ranks_per_node} per node`],
      ['nodes, links', `${group.format(one.nodes)}, ${group.format(one.links)}`],
      ['mapping shown', shown && shown.name], ['key of its run', shown && shown.key]]),
    ...(report.study ? [element('details', {}, element('summary', {}, 'Study file'), element('pre', {}, report.study))] : []),
    element('footer', {}, 'Exact values of everything are in the exports of the study. Charts by uPlot 1.6.32 ' +
      '\u00a9 2022 Leon Sorokin, MIT licence, which stands in the source of this page.'));
}
