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
