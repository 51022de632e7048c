// Shows the page behind the next link when it is time. If the server does not answer, it keeps
// the current page. It is written for the browsers of old televisions.
(function () {
  'use strict';

  var RETRY = 5; // seconds
  // A code is valid for 90 seconds. An expired one is not shown.
  var STALE = 75;
  var shown = Date.now();
  // What this screen renews the link with. It is not in the address bar, where others could read it, and it is kept
  // for a reload of the page.
  var key = 'next ' + window.location.pathname;
  var next = stored();

  function stored() {
    try {
      return window.sessionStorage.getItem(key);
    } catch (error) {
      return null; // a reload shows the link only
    }
  }

  function store() {
    try {
      if (next) {
        window.sessionStorage.setItem(key, next);
      } else {
        window.sessionStorage.removeItem(key);
      }
    } catch (error) {
      return;
    }
  }

  function wall() {
    return document.getElementById('wall');
  }

  function wait(seconds) {
    window.setTimeout(look, seconds * 1000);
  }

  function look() {
    var request = new XMLHttpRequest();
    request.open('GET', next);
    request.timeout = 10000;
    request.onload = function () {
      if (request.status === 200 || request.status === 404) {
        show(request.responseText);
      } else {
        fail();
      }
    };
    request.onerror = fail;
    request.ontimeout = fail;
    request.send();
  }

  function show(text) {
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
    goOn();
  }

  function fail() {
    if (Date.now() - shown > STALE * 1000) {
      document.body.className = 'stale';
    }
    wait(RETRY);
  }

  function goOn() {
    next = wall().getAttribute('data-next');
    store();
    if (next) {
      wait(Number(wall().getAttribute('data-every')));
    }
  }

  if (next) {
    look(); // this screen has shown the link before
  } else {
    goOn();
  }
})();
