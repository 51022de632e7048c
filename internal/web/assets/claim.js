// Counts down the time that an offer has left, and shows by itself when the offer changes.
// Without this script a reload of the page shows the same.
(function () {
  'use strict';

  var SLACK = 400; // ms after the end, so that the offer has expired on the server, too
  var RETRY = 10; // seconds

  // Counted from when the page was loaded, with a monotonic clock.
  var began = performance.now();
  var looking = null;
  var beat = null;
  var sent = false;

  function page() {
    return document.getElementById('claim');
  }

  function number(name) {
    return Number(page().getAttribute(name));
  }

  function two(n) {
    return (n < 10 ? '0' : '') + n;
  }

  function spell(ms) {
    var s = Math.max(0, Math.ceil(ms / 1000));
    var h = Math.floor(s / 3600);
    var m = Math.floor(s / 60) % 60;
    return (h > 0 ? h + ':' + two(m) : String(m)) + ':' + two(s % 60);
  }

  function left() {
    return number('data-left') - (performance.now() - began);
  }

  function tick() {
    var ms = left();
    page().querySelector('.count').textContent = spell(ms);
    page().querySelector('progress').value = Math.max(0, ms);
    if (ms <= 0) {
      window.clearInterval(beat);
      beat = null;
      document.getElementById('news').textContent = page().getAttribute('data-over');
      wait(SLACK / 1000);
    }
  }

  function wait(seconds) {
    window.clearTimeout(looking);
    looking = window.setTimeout(look, seconds * 1000);
  }

  function look() {
    if (sent || document.hidden) {
      return; // it checks again when it becomes visible
    }
    fetch(window.location.href, { cache: 'no-store', credentials: 'omit' }).then(function (answer) {
      if (answer.status === 200 || answer.status === 404) {
        return answer.text().then(show);
      }
      throw new Error(String(answer.status));
    }).catch(function () {
      wait(RETRY + RETRY * Math.random());
    });
  }

  function show(text) {
    var made = new DOMParser().parseFromString(text, 'text/html');
    var fresh = made.getElementById('claim');
    if (!fresh || sent) {
      return;
    }
    began = performance.now();
    if (fresh.getAttribute('data-state') === page().getAttribute('data-state')) {
      page().setAttribute('data-left', fresh.getAttribute('data-left'));
      page().setAttribute('data-every', fresh.getAttribute('data-every'));
    } else {
      page().replaceWith(document.importNode(fresh, true));
      document.title = made.title;
      document.getElementById('news').textContent = page().querySelector('h1').textContent;
    }
    goOn();
  }

  function goOn() {
    var every = number('data-every');
    window.clearInterval(beat);
    beat = null;
    if (page().getAttribute('data-state') === 'live') {
      page().classList.add('counting');
      page().querySelector('.left').hidden = false;
      tick();
      beat = window.setInterval(tick, 250);
      page().querySelector('form').onsubmit = function () {
        if (sent) {
          return false;
        }
        sent = true;
        page().classList.add('sent');
        return true;
      };
    }
    if (every > 0) {
      // A random delay, so that not all pages ask at the same moment.
      wait(every * (0.75 + Math.random() / 2));
    }
  }

  document.addEventListener('visibilitychange', function () {
    if (!document.hidden && number('data-every') > 0) {
      look();
    }
  });
  // Going back to the page shows the current state.
  window.addEventListener('pageshow', function (event) {
    if (event.persisted) {
      window.location.reload();
    }
  });
  goOn();
})();
