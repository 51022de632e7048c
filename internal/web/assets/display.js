// Shows the page behind the next link when it is time. If the server does not answer, it keeps
// the current page. It is written for the browsers of old televisions.
(function () {
  'use strict';

  var RETRY = 5; // seconds
  // A code is valid for 90 seconds. An expired one is not shown.
  var STALE = 75;
  var shown = Date.now();

  function wall() {
    return document.getElementById('wall');
  }

  function wait(seconds) {
    window.setTimeout(look, seconds * 1000);
  }

  function look() {
    var next = wall().getAttribute('data-next');
    var request = new XMLHttpRequest();
    request.open('GET', next);
    request.timeout = 10000;
    request.onload = function () {
      if (request.status === 200 || request.status === 404) {
        show(request.responseText, next);
      } else {
        fail();
      }
    };
    request.onerror = fail;
    request.ontimeout = fail;
    request.send();
  }

  function show(text, from) {
    var page = new DOMParser().parseFromString(text, 'text/html');
    var fresh = page.getElementById('wall');
    if (!fresh) {
      fail();
      return;
    }
    wall().parentNode.replaceChild(document.importNode(fresh, true), wall());
    document.body.className = '';
    document.title = page.title;
    shown = Date.now();
    // After a reload the link is still valid.
    window.history.replaceState(null, '', fresh.getAttribute('data-next') || from);
    goOn();
  }

  function fail() {
    if (Date.now() - shown > STALE * 1000) {
      document.body.className = 'stale';
    }
    wait(RETRY);
  }

  function goOn() {
    if (wall().getAttribute('data-next')) {
      wait(Number(wall().getAttribute('data-every')));
    }
  }

  goOn();
})();
