/* chart.js - curves and points: drawn by uPlot, and again as SVG when saved.
 *
 * A chart: { x: label, y: label, xUnit, yUnit, xLog, yLog, xZero, yZero, title,
 * series: [{ name, colour (of a theme), points: [[x, y], ...] in the order of x,
 *            line, step (what a point has holds back to the point before it), fill, marks: radius or 0, dash, text (index): what a tip says }] }. */

const fontOf = size => `${size}px system-ui, sans-serif`;

/* All x of all series, each once and in order, and what each series has there. */
function aligned (series) {
  const tables = series.map(one => [one.points.map(p => p[0]), one.points.map(p => p[1])]);
  return tables.length > 1 ? uPlot.join(tables, tables.map(() => [2, 2])) : tables[0];
}

/* Points of one x are drawn one by one, which aligned columns cannot tell apart. */
function drawMarks (plot, series, theme) {
  const { ctx } = plot, ratio = uPlot.pxRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left - 8, plot.bbox.top - 8, plot.bbox.width + 16, plot.bbox.height + 16);
  ctx.clip();
  for (const one of series) {
    if (!one.marks) continue;
    ctx.fillStyle = themes[theme][one.colour];
    ctx.strokeStyle = themes[theme].paper;
    ctx.lineWidth = ratio;
    for (const [x, y] of one.points) {
      ctx.beginPath();
      ctx.arc(plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true), one.marks * ratio, 0, 2 * Math.PI);
      ctx.fill();
      if (one.marks > 4) ctx.stroke();
    }
  }
  ctx.restore();
}

function axisOptions (theme, unit, label, log, range, ticks) {
  return { stroke: themes[theme].soft, grid: { stroke: themes[theme].line, width: 1 }, ticks: { stroke: themes[theme].line, width: 1 },
    font: fontOf(12), labelFont: fontOf(12), label, labelSize: 22, labelGap: 4,
    splits: () => log ? logTicks(range[0], range[1], ticks) : linearTicks(range[0], range[1], ticks),
    filter: (_, splits) => splits, values: (_, splits) => splits.map(value => brief(value, unit)) };
}

function plotOptions (chart, width, theme, ranges) {
  return { width, height: chart.height || 300, legend: { show: false }, padding: [12, 26, 0, 4],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    scales: { x: { time: false, distr: chart.xLog ? 3 : 1, range: () => ranges.x },
              y: { distr: chart.yLog ? 3 : 1, range: () => ranges.y } },
    axes: [{ ...axisOptions(theme, chart.xUnit, chart.x, chart.xLog, ranges.x, Math.min(6, Math.round(width / 80))), size: 34 },
           { ...axisOptions(theme, chart.yUnit, chart.y, chart.yLog, ranges.y, 6), size: 66 }],
    series: [{}, ...chart.series.map(one => ({
      label: one.name, stroke: themes[theme][one.colour], width: one.line ? 2 : 0, spanGaps: true, dash: one.dash,
      points: { show: false }, fill: one.fill ? themes[theme][one.colour] : undefined,
      paths: one.step ? uPlot.paths.stepped({ align: -1 }) : one.line ? uPlot.paths.linear() : () => null }))],
    hooks: { draw: [plot => drawMarks(plot, chart.series, theme)] } };
}

/* The point of the chart nearest to a place on it, in pixels; null when none is near. */
function nearestPoint (plot, chart, left, top, reach) {
  let best = null, distance = reach;
  chart.series.forEach((one, at) => one.points.forEach(([x, y], index) => {
    const dx = plot.valToPos(x, 'x') - left, dy = plot.valToPos(y, 'y') - top;
    const away = one.line ? Math.abs(dx) + Math.abs(dy) / 4 : Math.hypot(dx, dy);
    if (away < distance) [best, distance] = [{ series: at, index }, away];
  }));
  return best;
}

function tipOf (chart, { series, index }) {
  const one = chart.series[series], [x, y] = one.points[index];
  return one.text ? one.text(index) :
    `${one.name}\n${chart.x}: ${exact(x, chart.xUnit)}\n${chart.y}: ${exact(y, chart.yUnit)}`;
}

function listenChart (holder, plot, chart) {
  let at = null;
  const tell = (found, spoken) => {
    if (!found) return tip.hide();
    const box = plot.over.getBoundingClientRect(), [x, y] = chart.series[found.series].points[found.index];
    const text = tipOf(chart, found);
    tip.show(text, box.left + plot.valToPos(x, 'x'), box.top + plot.valToPos(y, 'y'));
    if (spoken) tip.say(text);
  };
  plot.over.addEventListener('pointermove', event => {
    const box = plot.over.getBoundingClientRect();
    tell(nearestPoint(plot, chart, event.clientX - box.left, event.clientY - box.top, 40));
  });
  plot.over.addEventListener('pointerleave', () => tip.hide());
  plot.over.addEventListener('click', event => {
    const box = plot.over.getBoundingClientRect();
    const found = nearestPoint(plot, chart, event.clientX - box.left, event.clientY - box.top, 40);
    if (found && chart.series[found.series].choose) chart.series[found.series].choose(found.index);
  });
  holder.addEventListener('blur', () => tip.hide());
  holder.addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], turn = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === 'Escape') return tip.hide();
    if (!step && !turn) return;
    event.preventDefault();
    if (!at) at = { series: 0, index: 0 };
    else if (turn) at = { series: (at.series + turn + chart.series.length) % chart.series.length, index: 0 };
    else at.index = Math.max(0, Math.min(chart.series[at.series].points.length - 1, at.index + step));
    tell(at, true);
  });
}

function seriesKey (one) {
  const theme = themes[currentTheme()], colour = theme[one.colour];
  const mark = one.fill ? `<rect x="3" y="2" width="18" height="10" fill="${colour}"/>` :
    (one.line ? `<path d="M1 7h22" stroke="${colour}" stroke-width="2" stroke-dasharray="${(one.dash || []).join(' ')}"/>` : '') +
    (one.marks ? `<circle cx="12" cy="7" r="${Math.min(5, one.marks)}" fill="${colour}"/>` : '');
  const parsed = new DOMParser().parseFromString(
    `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="14" aria-hidden="true">${mark}</svg>`, 'image/svg+xml');
  return element('span', { class: 'key' }, document.importNode(parsed.documentElement, true), one.name);
}

/* -- as SVG --------------------------------------------------------------- */

const svgFrame = { width: 640, height: 400, left: 84, right: 20, top: 40, bottom: 68 };

function axisScale (log, [low, high], from, to) {
  const of = log ? Math.log : value => value;
  return value => from + (to - from) * (of(value) - of(low)) / (of(high) - of(low));
}

function seriesPath (one, x, y, range) {
  const clipped = one.points.map(([px, py]) => [x(px), y(Math.max(range[0], py))]);
  const parts = clipped.map(([px, py], at) => at === 0 ? `M${near(px)} ${near(py)}` :
    one.step ? `V${near(py)}H${near(px)}` : `L${near(px)} ${near(py)}`);
  return parts.join('');
}

function seriesBody (one, x, y, ranges) {
  const colour = themes.light[one.colour];
  let body = '';
  if (one.points.length && (one.line || one.fill)) {
    const path = seriesPath(one, x, y, ranges.y);
    if (one.fill) body += `<path d="${path}V${near(y(ranges.y[0]))}H${near(x(one.points[0][0]))}z" fill="${colour}"/>`;
    else body += `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${(one.dash || []).join(' ')}"/>`;
  }
  if (one.marks)
    body += one.points.map(([px, py]) =>
      `<circle cx="${near(x(px))}" cy="${near(y(py))}" r="${one.marks}" fill="${colour}"/>`).join('');
  return body;
}

function chartSvg (chart, ranges) {
  const { width, height, left, right, top, bottom } = svgFrame, { soft, line } = themes.light;
  const x = axisScale(chart.xLog, ranges.x, left, width - right), y = axisScale(chart.yLog, ranges.y, height - bottom, top);
  const ticks = (log, range) => log ? logTicks(range[0], range[1], 6) : linearTicks(range[0], range[1], 6);
  let body = svgText(12, 22, chart.title, 'font-size="14" font-weight="600"');
  for (const value of ticks(chart.xLog, ranges.x))
    body += `<path d="M${near(x(value))} ${top}V${height - bottom}" stroke="${line}"/>` +
      svgText(x(value), height - bottom + 16, brief(value, chart.xUnit), `text-anchor="middle" fill="${soft}"`);
  for (const value of ticks(chart.yLog, ranges.y))
    body += `<path d="M${left} ${near(y(value))}H${width - right}" stroke="${line}"/>` +
      svgText(left - 6, y(value) + 4, brief(value, chart.yUnit), `text-anchor="end" fill="${soft}"`);
  body += svgText((left + width - right) / 2, height - 32, chart.x, 'text-anchor="middle"') +
    svgText(0, 0, chart.y, `text-anchor="middle" transform="translate(16 ${(top + height - bottom) / 2}) rotate(-90)"`);
  body += chart.series.map(one => seriesBody(one, x, y, ranges)).join('');
  let keyX = left;
  for (const one of chart.series) {
    body += `<rect x="${near(keyX)}" y="${height - 12}" width="12" height="5" fill="${themes.light[one.colour]}"/>` +
      svgText(keyX + 16, height - 6, one.name, 'font-size="11"');
    keyX += 30 + 6.2 * one.name.length;
  }
  return svgFile(Math.max(width, keyX), height, chart.title, body);
}

/* Fills a place of the page with a chart and its key; returns what drew it. */
function drawChart (place, chart) {
  const theme = currentTheme();
  chart.series = chart.series.filter(one => one.points.length);
  const ranges = { x: chart.xRange || axisRange(chart.series.flatMap(one => one.points.map(p => p[0])), chart.xLog, chart.xZero),
                   y: axisRange(chart.series.flatMap(one => one.points.map(p => p[1])), chart.yLog, chart.yZero) };
  const holder = element('div', { class: 'chart', tabindex: 0, role: 'img', 'aria-label':
    `${chart.title}. ${chart.y} against ${chart.x}. Arrow keys go from point to point.` });
  place.replaceChildren(element('figure', {}, holder,
    caption(chart.series.filter(one => !one.quiet).map(seriesKey), chart.title, () => chartSvg(chart, ranges))));
  const plot = new uPlot(plotOptions(chart, Math.max(240, place.clientWidth), theme, ranges), aligned(chart.series), holder);
  listenChart(holder, plot, chart);
  return plot;
}
