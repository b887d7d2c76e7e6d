"use strict";
// Parts that a link leads into are unfolded.
(() => {
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1).split("?")[0]));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
// A button beside each command that copies it.
for (const code of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy the command");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch { // not allowed here: selected, for the keys of the reader
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
  code.parentElement.before(button);
}
// Filters lists, and keeps the filter in the address: #claims?paper=mine&words=LinUCB
for (const form of document.querySelectorAll(".filters")) {
  const items = [...document.querySelectorAll(form.dataset.items)];
  const lists = new Set(items.map((item) => item.parentElement));
  const said = form.querySelector("output");
  const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
  const anchor = form.dataset.anchor;

  function show() {
    const wanted = [...new FormData(form)].filter(([, value]) => value.trim());
    let count = 0;
    for (const item of items) {
      item.hidden = !wanted.every(([name, value]) => name === "words"
        ? value.toLowerCase().split(/\s+/).every((word) => texts.get(item).includes(word))
        : item.dataset[name].split(" ").includes(value));
      count += !item.hidden;
    }
    for (const list of lists) { // with its heading
      for (let at = list; at.matches(".list, details, section"); at = at.parentElement) {
        if (at !== list) at.hidden = !at.querySelector(`${form.dataset.items.replace(/[^ ]*$/, "")} :not([hidden])`);
        if (at.matches("details")) at.open = wanted.length > 0;
      }
    }
    said.textContent = `${count} of ${items.length}`;
    return wanted;
  }

  function write() {
    const query = new URLSearchParams(show()).toString();
    history.replaceState(null, "", query || location.hash.includes("?") ? `#${anchor}${query ? `?${query}` : ""}` : location.href);
  }

  function read() {
    const [at, query] = location.hash.slice(1).split("?");
    if (at !== anchor) return void show(); // a plain link within the page
    const view = new URLSearchParams(query ?? "");
    for (const field of form.elements) if (field.name) field.value = view.get(field.name) ?? "";
    show();
    for (let up = form; query && up; up = up.parentElement) if (up.matches("details")) up.open = true;
    if (query !== undefined) form.scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(write));
  addEventListener("hashchange", read);
  read();
}
