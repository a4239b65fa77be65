"use strict";
// Progress of a list of traces. Loaded async, because deferred scripts run after the stream. The page works without it.
(function () {
  document.documentElement.classList.add("js");
  const find = (selector) => document.querySelector(selector);
  const rows = () => document.querySelectorAll(".traced tbody tr").length;
  const tell = (text) => { const said = find("#said"); if (said) said.textContent = text; };
  const words = document.currentScript.dataset;
  let over = false;

  function look() {
    const bar = find(".round progress");
    if (!bar || over) return;
    const count = find(".progress .count"), done = words.done.replace("{done}", rows()).replace("{all}", bar.max);
    bar.value = rows();
    // Writing triggers the observer, so write only changes. Otherwise the loop is endless.
    if (count.textContent !== done) count.textContent = done;
    const ended = find(".round .ended .sentence");
    if (ended) end(ended.textContent.trim());
  }

  function end(sentence) {
    over = true;
    watch.disconnect();
    const stop = find("#stop");
    if (stop) {
      if (stop === document.activeElement) find("#rows").focus();
      stop.remove();
    }
    tell(sentence);
  }

  const watch = new MutationObserver(look);
  watch.observe(document.documentElement, {childList: true, subtree: true});
  look();

  document.addEventListener("click", (event) => {
    if (!event.target.closest("#stop")) return;
    window.stop();
    look();
    if (!over) end(words.stopped.replace("{done}", find(".progress .count").textContent));
    const count = find(".progress .count");
    count.textContent = words.halted.replace("{done}", count.textContent);
  });
})();
