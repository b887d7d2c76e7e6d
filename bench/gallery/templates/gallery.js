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
// Filters lists and sorts tables, and keeps both in the address: #claims?paper=mine&words=LinUCB
for (const form of document.querySelectorAll(".filters")) {
  const items = [...document.querySelectorAll(form.dataset.items)];
  const lists = new Set(items.map((item) => item.parentElement));
  const said = form.querySelector("output");
  const texts = new Map(items.map((item) => [item, `${item.textContent} ${item.dataset.words ?? ""}`.toLowerCase()]));
  const heads = [...document.getElementById(form.dataset.table)?.closest(".sortable")?.tHead.rows[0].cells ?? []];
  const anchor = form.dataset.anchor;
  let order = "";

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
    const view = new URLSearchParams(show());
    if (order) view.set("sort", order);
    const query = view.toString();
    history.replaceState(null, "", query || location.hash.includes("?") ? `#${anchor}${query ? `?${query}` : ""}` : location.href);
  }

  const key = (row, at) => {
    const text = row.cells[at].textContent.trim();
    const number = parseFloat(text.replace(/^\[/, "").replace(/,(?=\d{3})/g, "").replace("−", "-"));
    return heads[at].classList.contains("number") ? [Number.isNaN(number) ? Infinity : number, text] : [0, text];
  };

  function sort(by) {
    const [name, way] = [by.replace(/^-/, ""), by.startsWith("-") ? -1 : 1];
    const at = heads.findIndex((head) => head.dataset.name === name);
    order = at < 0 ? "" : by;
    heads.forEach((head, i) => {
      if (i === at) head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const compare = (a, b) => {
      const [x, y] = [key(a, at), key(b, at)];
      return way * (x[0] === y[0] ? x[1].localeCompare(y[1], "en", { numeric: true }) : x[0] - y[0]);
    };
    const rows = at < 0 ? items : [...items].sort(compare);
    if (heads.length) rows[0]?.parentElement.append(...rows);
  }

  function read() {
    const [at, query] = location.hash.slice(1).split("?");
    if (at !== anchor) return void show(); // a plain link within the page
    const view = new URLSearchParams(query ?? "");
    for (const field of form.elements) if (field.name) field.value = view.get(field.name) ?? "";
    sort(view.get("sort") ?? "");
    show();
    for (let up = form; query && up; up = up.parentElement) if (up.matches("details")) up.open = true;
    if (query !== undefined) form.scrollIntoView();
  }

  for (const head of heads.filter((head) => !head.classList.contains("axis"))) {
    head.dataset.name = head.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      sort(order === head.dataset.name ? `-${order}` : head.dataset.name);
      write();
    });
  }
  form.hidden = false;
  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(write));
  addEventListener("hashchange", read);
  read();
}
