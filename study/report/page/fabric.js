/* fabric.js - where the links of a switched fabric are drawn: levels by switches,
 * then every port of every switch. */

/* 0: adapters, 1: switches with adapters, 2: one cable farther ... */
function deviceLevels (devices, links) {
  const neighbours = devices.map(() => []), level = devices.map(([, isSwitch]) => isSwitch ? -1 : 0);
  for (let at = 0; at < links.length; at += 4) neighbours[links[at]].push(links[at + 2]);
  let edge = [...devices.keys()].filter(device => level[device] === 0);
  for (let next = 1; edge.length; next++) {
    const found = new Set(edge.flatMap(device => neighbours[device]).filter(device => level[device] < 0));
    for (const device of found) level[device] = next;
    edge = [...found];
  }
  return level.map(value => value < 0 ? 1 : value);
}

const rowNameWidth = 88;

/* The row of the overview that a link belongs to, and the switch whose column it is in. */
function overviewPlace (level, from, to) {
  if (level[from] === 0) return { row: 'from nodes', device: to, order: 0 };
  if (level[to] === 0) return { row: 'to nodes', device: from, order: 1 };
  const way = level[to] > level[from] ? 'up' : level[to] < level[from] ? 'down' : 'across';
  return { row: `level ${level[from]} ${way}`, device: from, order: 2 * level[from] + (way === 'down' ? -0.5 : 0) };
}

function overviewGrid (devices, links, level, columnOf, across) {
  const rows = new Map();
  for (let link = 0; 4 * link < links.length; link++) {
    const { row, device, order } = overviewPlace(level, links[4 * link], links[4 * link + 2]);
    if (!rows.has(row)) rows.set(row, { order, cells: Array.from({ length: across }, () => []), device: [] });
    rows.get(row).cells[columnOf[device]].push(link);
    rows.get(row).device[columnOf[device]] = device;
  }
  const names = [...rows.keys()].sort((a, b) => rows.get(b).order - rows.get(a).order);
  return { title: 'Busiest link of each switch (across), by level and direction', width: across, height: names.length,
    rowNames: names, xGaps: Int32Array.from({ length: across }, (_, at) => at ? 0 : rowNameWidth),
    yGaps: Int32Array.from(names, (_, at) => at ? 2 : 0), panel: 1000, most: 22,
    members: names.flatMap(name => rows.get(name).cells),
    where (cell) {
      const name = names[Math.floor(cell / across)], device = rows.get(name).device[cell % across];
      return device === undefined ? '' : `${devices[device][0]}, ${name}`;
    } };
}

const linkName = (devices, links, link) =>
  `${devices[links[4 * link]][0]} port ${links[4 * link + 1]} \u2192 ` +
  `${devices[links[4 * link + 2]][0]} port ${links[4 * link + 3]}`;

/* Ports of the switches of one level: a row per switch, or where there are many a column. */
function portGrid (devices, links, switches, number) {
  const ports = Math.max(...switches.map(device => devices[device][2])), order = new Map(switches.map((d, at) => [d, at]));
  const lying = switches.length > 2 * ports, width = lying ? switches.length : ports, height = lying ? ports : switches.length;
  const members = Array.from({ length: width * height }, () => []);
  for (let link = 0; 4 * link < links.length; link++) {
    const at = order.get(links[4 * link]), port = links[4 * link + 1] - 1;
    if (at !== undefined) members[lying ? port * width + at : at * width + port].push(link);
  }
  return { title: `Level ${number}: ${lying ? `${switches.length} switches across, ports down` : `ports across, ${switches.length} switches down`}`,
           width, height, members, panel: lying ? 1000 : undefined,
           where: cell => members[cell].length ? linkName(devices, links, members[cell][0]) : '' };
}

/* What the adapters send, in rows of 36, or longer ones where there are many. */
function adapterGrid (devices, links, level) {
  const own = [];
  for (let link = 0; 4 * link < links.length; link++) if (level[links[4 * link]] === 0) own.push(link);
  const width = Math.min(Math.max(36, Math.ceil(Math.sqrt(3 * own.length))), own.length), height = Math.ceil(own.length / width) || 0;
  const members = Array.from({ length: width * height }, (_, at) => at < own.length ? [own[at]] : []);
  return { title: 'From the nodes', width, height, members,
           where: cell => members[cell].length ? linkName(devices, links, members[cell][0]) : '' };
}

function fabricLayout (machine) {
  const { devices, links } = machine, level = deviceLevels(devices, links);
  const byLevel = Array.from({ length: Math.max(...level) + 1 }, () => []), columnOf = [];
  devices.forEach(([, isSwitch], device) => {
    if (isSwitch) columnOf[device] = byLevel[level[device]].push(device) - 1;
  });
  const across = Math.max(1, ...byLevel.map(list => list.length));
  const grids = [overviewGrid(devices, links, level, columnOf, across)];
  byLevel.forEach((list, number) => { if (list.length) grids.push(portGrid(devices, links, list, number)); });
  grids.push(adapterGrid(devices, links, level));
  return { grids, dims: false, axes: '' };
}
