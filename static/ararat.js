"use strict";
// What a keyboard and a clipboard add. Everything else works without this file; htmx brings the fragments.
(function () {
  const root = document.documentElement;
  // What is said here in the language of the page stands on the element of this script.
  const words = document.currentScript.dataset;
  const say = (text) => {
    const said = document.getElementById("said");
    if (said) said.textContent = text;
  };
  root.classList.add("js");

  // htmx notes the current address in the session storage, for a cache of pages that is switched off. Nothing is kept here.
  const forget = () => {
    try { sessionStorage.removeItem("htmx-current-path-for-history"); } catch { /* storage is blocked: nothing was kept */ }
  };
  forget();
  document.addEventListener("htmx:pushedIntoHistory", forget);
  document.addEventListener("htmx:replacedInHistory", forget);

  async function write(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "unseen";
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("not copied");
  }

  // What a button copies or saves: its own words, or those of the element with this class beside it.
  const beside = (button, name) => button.closest("details").querySelector("." + name).textContent;

  async function copy(button) {
    const label = button.firstChild;
    const usual = button.dataset.usual || (button.dataset.usual = label.textContent);
    try {
      await write(button.dataset.copy || beside(button, button.dataset.copyFrom));
      label.textContent = words.copied;
      say(words.copied + " " + (button.dataset.copy || ""));
    } catch {
      label.textContent = words.kept;
      say(words.forbidden);
    }
    setTimeout(() => { label.textContent = usual; }, 1600);
  }

  function save(button) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([beside(button, button.dataset.saveFrom) + "\n"], {type: "application/x-ndjson"}));
    link.download = button.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    if (button.dataset.saveFrom) save(button);
    else copy(button);
  });

  // A button with an address of its own (a file, a comparison) sends the form there, as it would without htmx.
  document.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.hasAttribute("formaction")) event.stopPropagation();
  }, true);

  // A part, its row, its problems and the steps that changed it: pointing at one shows the others.
  function light(event) {
    const card = event.target.closest(".card");
    document.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
    const from = event.target.closest("[data-part]");
    if (!card || !from || !from.dataset.part) return;
    const numbers = from.dataset.part.split(" ");
    for (const one of card.querySelectorAll("[data-part]")) {
      if (one.dataset.part.split(" ").some((number) => numbers.includes(number))) one.classList.add("lit");
    }
  }
  document.addEventListener("mouseover", light);
  document.addEventListener("focusin", light);

  // Ctrl or Cmd with Enter sends a text of several lines; in the box of the start page Enter alone does, too.
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key !== "Enter" || !target.matches("textarea") || !target.form || event.isComposing) return;
    const alone = "enter" in target.dataset && !event.shiftKey && !event.altKey;
    if (event.ctrlKey || event.metaKey || alone) {
      event.preventDefault();
      target.form.requestSubmit();
    }
  });

  // A stream that breaks must not begin again by itself: it would run the trace again, and for ever.
  document.addEventListener("htmx:sseError", (event) => {
    const trace = event.target.closest(".trace");
    event.detail.source.close();
    if (!trace) return;
    const lost = document.createElement("p");
    lost.className = "ended bad";
    lost.setAttribute("role", "alert");
    lost.textContent = words.lost;
    const frozen = document.createElement("div");
    frozen.className = "trace";
    frozen.append(...[...trace.children].map((child) => child.cloneNode(true)), lost);
    frozen.tabIndex = -1;
    const focused = trace.contains(document.activeElement);
    trace.replaceWith(frozen);
    if (focused) frozen.focus();
  });

  document.addEventListener("htmx:sseClose", (event) => {
    const trace = event.target.closest("[aria-busy]");
    if (trace) trace.removeAttribute("aria-busy");
  });

  // No answer at all: the page stays as it is, and says so.
  document.addEventListener("htmx:sendError", () => say(words.unreachable));
})();
