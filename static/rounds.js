"use strict";
// A list of traces while its page still grows; deferred scripts would come when all is over. Everything works without.
(function () {
  document.documentElement.classList.add("js");
  const find = (selector) => document.querySelector(selector);
  const rows = () => document.querySelectorAll(".traced tbody tr").length;
  const tell = (text) => { const said = find("#said"); if (said) said.textContent = text; };
  let over = false;

  function look() {
    const bar = find(".round progress");
    if (!bar || over) return;
    const count = find(".progress .count"), done = rows() + " of " + bar.max;
    bar.value = rows();
    // What is written here is a change, too: written again and again it would be seen for ever.
    if (count.textContent !== done) count.textContent = done;
    const ended = find(".round .ended .sentence");
    if (ended) end(ended.textContent.trim());
  }

  function end(sentence) {
    over = true;
    watch.disconnect();
    const stop = find("#stop");
    if (stop) stop.remove();
    tell(sentence);
  }

  const watch = new MutationObserver(look);
  watch.observe(document.documentElement, {childList: true, subtree: true});
  look();

  document.addEventListener("click", (event) => {
    if (!event.target.closest("#stop")) return;
    window.stop();
    look();
    if (!over) end("Stopped: " + find(".progress .count").textContent + " traced. The rest can be gone on with.");
    find(".progress .count").textContent += ", stopped";
  });
})();
