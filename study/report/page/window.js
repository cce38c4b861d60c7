/* window.js - a page is drawn again when its theme or its width changes, and for paper. */

/* drawNow: as draw, but done when it returns, since a printer does not wait. */
function bindWindow (draw, drawNow = draw) {
  darkQuery.addEventListener('change', draw);
  /* Paper is light, and as wide as a page. */
  const printMode = wanted => {
    printing = wanted;
    byId('page').style.width = wanted ? '680px' : '';
    byId('page').classList.toggle('paper', wanted);
    drawNow();
  };
  window.addEventListener('beforeprint', () => printMode(true));
  window.addEventListener('afterprint', () => printMode(false));
  let width = innerWidth, timer = 0;
  window.addEventListener('resize', () => {
    if (innerWidth === width || printing) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(draw, 150);
  });
}

/* For the page that tries itself: the heat maps are drawn for paper before the printer asks for it; charts
 * follow in a task of their own. */
function testPaper (check) {
  const sizes = () => [...document.querySelectorAll('canvas[role=img]')].map(({ width, height }) => `${width}x${height}`).join();
  const before = sizes();
  window.dispatchEvent(new Event('beforeprint'));
  check('drawn for paper', printing && byId('page').classList.contains('paper') && sizes() !== before, sizes());
  window.dispatchEvent(new Event('afterprint'));
  check('drawn for the screen again', !printing && byId('page').style.width === '' && sizes() === before, sizes());
}
