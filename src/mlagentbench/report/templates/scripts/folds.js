"use strict";
(() => {
  function openLinkedFold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && target.closest("details");
    if (fold) {
      fold.open = true;
      target.scrollIntoView();
    }
  }

  addEventListener("hashchange", openLinkedFold);
  openLinkedFold();
})();
