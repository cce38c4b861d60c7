// search.js - the search of the site, over the words of each section in search-index.js.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

// Every word of the question begins a word of the section; a section counts more where the words
// are whole, in its heading, or in the title of its page.  An entry of the index is
// [address, title of the page, heading of the section or '', summary, words].
function searchPages(index, question, limit) {
  const asked = question.toLowerCase().match(/[a-z0-9_][a-z0-9_.-]*/g) || [];
  const found = [];
  index.forEach(([address, title, heading, summary, words], place) => {
    const all = (' ' + words).replaceAll(' -', ' ') + ' ';
    const headed = ' ' + heading.toLowerCase() + ' ';
    const titled = ' ' + title.toLowerCase() + ' ';
    let worth = 0;
    for (const word of asked) {
      let of = 0;
      if (all.includes(' ' + word)) of += all.includes(' ' + word + ' ') ? 2 : 1;
      if (headed.includes(word)) of += 6;
      if (titled.includes(word)) of += heading === '' ? 8 : 3;
      if (of === 0) return;
      worth += of;
    }
    if (asked.length > 0) found.push({ address, title, heading, summary, worth, place });
  });
  found.sort((a, b) => b.worth - a.worth || a.place - b.place);
  return { total: found.length, first: found.slice(0, limit) };
}

function prepareSearch() {
  const form = document.getElementById('siteSearch');
  const input = form.elements.q;
  const results = document.getElementById('siteResults');
  const article = document.querySelector('article');
  const limit = 25;

  function element(kind, text) {
    const made = document.createElement(kind);
    made.textContent = text;
    return made;
  }

  function show() {
    const question = input.value.trim();
    const searching = question !== '';
    results.hidden = !searching;
    article.hidden = searching;
    if (!searching || typeof searchIndex === 'undefined') return;
    const { total, first } = searchPages(searchIndex, question, limit);
    const list = document.createElement('ol');
    for (const hit of first) {
      const item = document.createElement('li');
      const link = element('a', hit.heading === '' ? hit.title : hit.title + ': ' + hit.heading);
      link.href = hit.address;
      item.append(link, element('small', hit.summary));
      list.append(item);
    }
    const count = total > limit ? total + ' sections, the first ' + limit
      : total === 1 ? '1 section' : total + ' sections';
    results.replaceChildren(element('p', count + ' with "' + question + '"'), list);
    window.scrollTo(0, 0);
  }

  // The index is loaded with the first question; a page opened from disk may load scripts, not data.
  let asked = false;
  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement('script');
    script.src = 'search-index.js';
    script.onload = show;
    document.head.append(script);
  }

  form.hidden = false;
  input.addEventListener('focus', load);
  input.addEventListener('input', () => { load(); show(); });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const best = results.querySelector('a');
    if (best) best.click();
  });
  results.addEventListener('click', (event) => {
    // A result on this page changes only the anchor: the text must be there again.
    if (event.target.closest('a')) { input.value = ''; show(); }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && event.target !== input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape' && event.target === input) {
      input.value = '';
      show();
    }
  });
  const question = new URLSearchParams(location.search).get('q');
  if (question) {
    input.value = question;
    load();
    show();
  }
}

// The navigation is longer than the window: the entry of this page is brought into sight.
function showPlace() {
  const navigation = document.getElementById('sitePages');
  const current = navigation.querySelector('[aria-current]');
  if (current) navigation.scrollTop = current.offsetTop - navigation.offsetTop - navigation.clientHeight / 3;
}

prepareSearch();
showPlace();
