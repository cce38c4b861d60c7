/* svg.js - small things for drawing: elements, text of SVG files, saving them. */

const byId = id => document.getElementById(id);

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const escaped = text => String(text).replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
const near = value => String(+value.toFixed(2));

const svgText = (x, y, text, attributes = '') =>
  `<text x="${near(x)}" y="${near(y)}" ${attributes}>${escaped(text)}</text>`;

function svgFile (width, height, title, body) {
  const ink = themes.light.ink;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${Math.ceil(height)}" ` +
    `viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" font-family="sans-serif" font-size="12" fill="${ink}">` +
    `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>${body}</svg>\n`;
}

/* The last file that was made; what a test of the page looks at. */
let lastSaved = null;

function saveFile (name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  lastSaved = { name, text };
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const fileName = (...words) =>
  words.join('-').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 80) + '.svg';

/* A caption with its words and the button that saves the figure. */
const caption = (words, name, makeSvg) => element('figcaption', {}, ...words,
  element('button', { type: 'button', onclick: () => saveFile(fileName(name), makeSvg()) }, 'Save as SVG'));

/* One text beside the pointer, or beside what has the keyboard. */
const tip = {
  box: document.getElementById('tip'),
  show (text, x, y) {
    this.box.textContent = text;
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    this.box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    this.box.style.top = `${y + 16 + height > innerHeight ? Math.max(4, y - height - 10) : y + 16}px`;
  },
  hide () { this.box.hidden = true; },
  say (text) { document.getElementById('said').textContent = text; },
};
