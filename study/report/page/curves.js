/* curves.js - the charts of a case: sorted mappings, metric and result, loads, ranks. */

function pointText (view, mapping) {
  const gain = isFinite(mapping.gain ?? NaN) ? `\ngain over the default: ${times(mapping.gain)}` : '';
  return `${mapping.name}\nplace ${mapping.place}, ${view.result}: ${exact(mapping.value, view.unit)}${gain}`;
}

/* The mappings that stand out, each once, with the series that marks them. */
function standouts (view) {
  const list = [[view.best, 'best', 'best'], [view.first, 'first', 'default'], [view.worst, 'worst', 'worst'],
                [view.shown, 'shown', 'shown']];
  const seen = new Set();
  return list.filter(([mapping]) => mapping && !seen.has(mapping) && seen.add(mapping))
    .map(([mapping, colour, role]) =>
      ({ mapping, colour, name: view.mappings.length > 1 ? `${role}: ${mapping.name}` : mapping.name }));
}

function drawSorted (view) {
  const order = new Map(view.mappings.map((mapping, at) => [mapping, at + 1]));
  drawChart(byId('sorted'), {
    title: `All mappings by ${view.result}`, x: 'mappings, best first', y: named(view.result, view.unit), xUnit: '', yUnit: view.unit, yLog: true,
    series: [
      { name: 'all mappings', colour: 'soft', line: true, marks: view.mappings.length > 200 ? 0 : 3, quiet: true,
        points: view.mappings.filter(mapping => mapping.value > 0).map(mapping => [order.get(mapping), mapping.value]),
        text: at => pointText(view, view.mappings[at]), choose: at => choose({ shown: view.mappings[at].name }) },
      ...standouts(view).map(({ mapping, colour, name }) => ({ name, colour, marks: 6,
        points: [[order.get(mapping), mapping.value]], text: () => pointText(view, mapping) })),
    ] });
}

/* Of how many pairs of mappings the metric tells the order. */
function pairsInOrder (points) {
  let same = 0, pairs = 0;
  for (let i = 0; i < points.length; i++)
    for (let j = 0; j < i; j++) {
      const result = Math.sign(points[i][1] - points[j][1]);
      if (result === 0) continue;
      pairs++;
      same += Math.sign(points[i][0] - points[j][0]) === result;
    }
  return { same, pairs };
}

function metricNames (view) {
  return report.columns.map(([name]) => name).filter(name => name !== view.one.column &&
    new Set(view.mappings.map(mapping => valueOf(mapping, name, view.one.column)).filter(value => value !== null)).size > 1);
}

function drawScatter (view) {
  const place = byId('scatter'), names = metricNames(view);
  if (!names.length) {
    place.replaceChildren(element('p', {}, 'No metric differs between the mappings.'));
    byId('metric').replaceChildren();
    return;
  }
  if (!names.includes(state.metric)) state.metric = names.includes('max_bytes') ? 'max_bytes' : names[0];
  byId('metric').replaceChildren(...names.map(name => element('option', { value: name, selected: name === state.metric }, name)));
  const unit = unitOf(state.metric), metric = mapping => valueOf(mapping, state.metric, view.one.column);
  const list = view.mappings.filter(mapping => metric(mapping) !== null).sort((a, b) => metric(a) - metric(b));
  const points = list.map(mapping => [metric(mapping), mapping.value]);
  const text = mapping => `${pointText(view, mapping)}\n${state.metric}: ${exact(metric(mapping), unit)}`;
  drawChart(place, {
    title: `${capital(view.result)} and ${state.metric}`, x: named(state.metric, unit), y: named(view.result, view.unit), xUnit: unit, yUnit: view.unit,
    series: [{ name: 'all mappings', colour: 'soft', marks: 3.5, points, quiet: true, text: at => text(list[at]),
               choose: at => choose({ shown: list[at].name }) },
             ...standouts(view).filter(({ mapping }) => metric(mapping) !== null).map(({ mapping, colour, name }) =>
               ({ name, colour, marks: 6, points: [[metric(mapping), mapping.value]], text: () => text(mapping) }))] });
  if (points.length > 1 && points.length <= 3000) {
    const { same, pairs } = pairsInOrder(points);
    if (pairs) place.append(element('p', { class: 'pairs' },
      `${state.metric} puts ${(100 * same / pairs).toFixed(1)} % of the ${group.format(pairs)} pairs of mappings in the order that the ${view.result} does.`));
  }
}

/* [load, share of links with at least it], one point per different load, and one for none. */
function loadCurve (values) {
  const sorted = Float64Array.from(values).sort(), points = sorted[0] > 0 ? [[0, 1]] : [];
  for (let at = 0; at < sorted.length; at++)
    if (at === 0 || sorted[at] !== sorted[at - 1]) points.push([sorted[at], (sorted.length - at) / sorted.length]);
  return points;
}

const roleDashes = { best: null, first: [7, 4], worst: [2, 3], shown: null };

function drawLoadCurves (view) {
  const list = standouts(view).filter(({ mapping }) => mapping.loads);
  if (!showSection('ccdf-section', list.length > 0)) return;
  drawChart(byId('ccdf'), {
    title: 'Links by load', x: 'load of a link', y: 'share of links with at least that', xUnit: 'bytes', yUnit: '', yLog: true, xZero: true,
    series: list.map(({ mapping, colour, name }) => {
      const points = loadCurve(mapping.loads.values), n = mapping.loads.values.length;
      return { name, colour, line: true, step: true, dash: roleDashes[colour], points,
               text: at => `${name}\n${group.format(Math.round(points[at][1] * n))} of ${group.format(n)} links carry at least ${load(points[at][0], mapping.loads)}` };
    }) });
}

/* Compute at the bottom, waiting above it, on top what is left of the time of a rank. */
function drawRanks (view) {
  const times = view.shown && view.shown.times;
  if (!showSection('ranks-section', Boolean(times))) return;
  const bins = [...times.end.keys()], per = times.n / bins.length;
  if (state.order === 'wait') bins.sort((a, b) => times.wait[a] - times.wait[b]);
  const x = at => (at + 0.5) * per - 0.5;
  const stack = [['compute', at => times.compute[at], at => times.compute[at]],
                 ['wait', at => times.wait[at], at => times.compute[at] + times.wait[at]],
                 ['rest', at => Math.max(0, times.end[at] - times.compute[at] - times.wait[at]), at => times.end[at]]];
  const words = { compute: 'computing', wait: 'waiting in MPI', rest: 'the rest: calls of MPI, copies' };
  const rank = bin => per > 1 ? `mean of ranks ${Math.floor(bin * per)} to ${Math.floor((bin + 1) * per) - 1}` : `rank ${bin}`;
  drawChart(byId('ranks'), {
    title: `Time of the ranks, ${view.shown.name}`, x: state.order === 'wait' ? 'ranks, by waiting time' : 'rank', y: 'time', xUnit: '', yUnit: 's', yZero: true,
    series: stack.reverse().map(([part, own, top]) => ({ name: words[part], colour: part, line: true, fill: true,
      points: bins.map((bin, at) => [x(at), top(bin)]),
      text: at => `${rank(bins[at])}\n${words[part]}: ${exact(+own(bins[at]).toPrecision(7), 's')}\nend: ${exact(+times.end[bins[at]].toPrecision(7), 's')}` })) });
}
