"use strict";
(() => {
  function openLinkedFold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  }

  addEventListener("hashchange", openLinkedFold);
  openLinkedFold();
})();
