"use strict";
// Keyboard shortcuts, clipboard, highlighting. The pages work without this file; htmx loads the fragments.
(function () {
  const root = document.documentElement;
  // The messages are data attributes of the script element.
  const words = document.currentScript.dataset;
  const say = (text) => {
    const said = document.getElementById("said");
    if (said) said.textContent = text;
  };
  root.classList.add("js");

  // htmx stores the current URL in the session storage for its page cache, which is disabled. Delete it.
  const forget = () => {
    try { sessionStorage.removeItem("htmx-current-path-for-history"); } catch { /* storage is blocked, so it is empty */ }
  };
  forget();
  document.addEventListener("htmx:pushedIntoHistory", forget);
  document.addEventListener("htmx:replacedInHistory", forget);

  async function write(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("not copied");
  }

  // The text of the element with this class next to a button.
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

  // A button inserts its text into a field where the cursor is.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-insert]");
    const field = button && document.getElementById(button.dataset.into);
    if (!field) return;
    event.preventDefault();
    field.setRangeText(button.dataset.insert, field.selectionStart, field.selectionEnd, "end");
    field.focus();
  });

  // A row of a list opens in place: the card of its page is in a row below it. Without a script, its link leads there.
  const rowLink = ".lines > tbody > tr > td:nth-child(2) > a";
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(rowLink);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const row = link.closest("tr");
    let below = row.nextElementSibling;
    if (!below?.matches(".opened")) {
      below = document.createElement("tr");
      below.className = "opened";
      below.translate = true;
      const cell = below.insertCell();
      cell.colSpan = row.cells.length;
      row.after(below);
      htmx.ajax("GET", `${link.getAttribute("href")}&row=${row.cells[0].id.slice(1)}`, { target: cell });
    }
    const opens = link.getAttribute("aria-expanded") !== "true";
    link.setAttribute("aria-expanded", opens);
    below.hidden = !opens || row.hidden;
  });

  // A filter or another order replaces the list: its open rows open again.
  let open = [];
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id === "list") open = [...event.detail.target.querySelectorAll(`${rowLink}[aria-expanded=true]`)];
  });
  document.addEventListener("htmx:load", (event) => {
    for (const link of event.target.querySelectorAll(rowLink)) link.setAttribute("aria-expanded", false);
    if (event.target.id !== "list") return;
    for (const link of open) event.target.querySelector(`#${link.closest("tr").cells[0].id} + td > a`)?.click();
  });

  // A picker writes its colour into a text field, and shows the colour of this field.
  document.addEventListener("input", (event) => {
    const picker = event.target.closest("input.picker");
    const field = picker && document.getElementById(picker.dataset.into);
    if (field) field.value = picker.value;
    const other = !picker && event.target.parentElement.parentElement?.querySelector("input.picker");
    if (other && other.dataset.into === event.target.id && /^#[0-9a-f]{6}$/i.test(event.target.value)) other.value = event.target.value;
  });

  // A button with formaction (download, comparison) submits the form without htmx.
  document.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.hasAttribute("formaction")) event.stopPropagation();
  }, true);

  // A second click before the response would send a form of the desk twice, and mint twice as many names. A form with
  // other values is sent, and also a form of a page that the browser restored from its memory.
  let last = {};
  window.addEventListener("pageshow", () => { last = {}; });
  function described([name, value]) {
    return value instanceof File ? [name, value.name, value.size, value.lastModified] : [name, value];
  }
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || !form.closest(".desk")) return;
    const request = JSON.stringify([form.action, ...Array.from(new FormData(form, event.submitter), described)]);
    if (request === last.request && Date.now() - last.time < 5000) event.preventDefault();
    else last = {request, time: Date.now()};
  });

  // Pointing at a part, its row, its problem or its step highlights all of them.
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

  // Ctrl+Enter or Cmd+Enter submits a textarea; in the text box of the home page, Enter alone does, too.
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key !== "Enter" || !target.matches("textarea") || !target.form || event.isComposing) return;
    const alone = "enter" in target.dataset && !event.shiftKey && !event.altKey;
    if (event.ctrlKey || event.metaKey || alone) {
      event.preventDefault();
      target.form.requestSubmit();
    }
  });

  // The box in the heading selects the page. Shift with a click or the space bar selects the rows since the last one.
  let picked = null;
  document.addEventListener("click", (event) => {
    const box = event.target;
    if (!box.matches(".pick input")) {
      if (box.matches("button.print")) window.print();
      return;
    }
    const all = [...box.form.querySelectorAll("[name=pick]")];
    if (box.matches(".whole")) all.forEach((one) => { one.checked = box.checked; });
    else if (event.shiftKey && picked && all.includes(picked)) {
      const [from, to] = [all.indexOf(picked), all.indexOf(box)].sort((a, b) => a - b);
      all.slice(from, to + 1).forEach((one) => { one.checked = box.checked; });
    }
    if (!box.matches(".whole")) picked = box;
    const whole = box.form.querySelector(".whole");
    if (whole) whole.checked = all.every((one) => one.checked);
  });

  // "/" goes to the box or the search field, Escape empties it or closes a menu.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const box = document.getElementById("q");
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && box && !typing) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "Escape") {
      const menu = document.querySelector("details[open].account, .places details[open]");
      if (menu) {
        menu.open = false;
        menu.querySelector("summary").focus();
      } else if (event.target === box && box.value) box.value = "";
    }
  });

  // A click elsewhere closes a menu.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open], details.account[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  // Replace a trace by a copy that receives no more events, with a sentence about its end.
  function freeze(trace, sentence, kind) {
    const ended = document.createElement("p");
    ended.className = "ended " + kind;
    ended.setAttribute("role", "alert");
    ended.textContent = sentence;
    const frozen = document.createElement("div");
    frozen.className = "trace";
    frozen.append(ended, ...[...trace.children].map((child) => child.cloneNode(true)));
    frozen.tabIndex = -1;
    const focused = trace.contains(document.activeElement);
    trace.replaceWith(frozen);
    if (focused) frozen.focus();
  }

  document.addEventListener("click", (event) => {
    const trace = event.target.closest(".stop") && event.target.closest("[sse-connect]");
    if (trace) freeze(trace, words.stopped, "plain");
  });

  // A broken stream must not reconnect, because that would run the trace again, endlessly.
  document.addEventListener("htmx:sseError", (event) => {
    const trace = event.target.closest(".trace");
    event.detail.source.close();
    if (trace) freeze(trace, words.lost, "bad");
  });

  document.addEventListener("htmx:sseClose", (event) => {
    const trace = event.target.closest("[aria-busy]");
    if (trace) trace.removeAttribute("aria-busy");
  });

  // The server did not respond: announce it and keep the page.
  document.addEventListener("htmx:sendError", () => say(words.unreachable));
})();
