"use strict";
// On every page: the search over all pages, parts that a link leads into are unfolded, and a word on what is running.
(() => {
  const up = document.body.dataset.up;
  const box = document.querySelector("search");
  const [field, hits] = [box.querySelector("input"), box.querySelector("ol")];
  let loading;

  // A script is read from disk, too, where fetch is not allowed.
  const load = () => loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${up}search.js`;
    script.onload = script.onerror = done;
    document.head.append(script);
  });

  async function find() {
    await load();
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    for (const [kind, title, address, text] of words.length ? window.PAGES ?? [] : []) {
      const [head, body] = [title.toLowerCase(), text.toLowerCase()];
      if (!words.every((word) => head.includes(word) || body.includes(word))) continue;
      const score = words.reduce((sum, word) => sum + (head.includes(word) ? 10 : 0) + (head.startsWith(word) ? 5 : 0), 0);
      found.push({ kind, title, address, text, score, at: Math.max(0, body.indexOf(words[0])) });
    }
    found.sort((a, b) => b.score - a.score);
    hits.replaceChildren(...found.slice(0, 30).map(({ kind, title, address, text, at }) => {
      const [item, link, note] = ["li", "a", "small"].map((name) => document.createElement(name));
      link.href = up + address;
      link.textContent = title;
      note.textContent = `${kind}: ${at > 40 ? "… " : ""}${text.slice(at > 40 ? at - 40 : 0, at + 90)}`;
      link.append(note);
      item.append(link);
      return item;
    }));
    if (words.length && !found.length) hits.append("Nothing found");
    hits.hidden = !words.length;
  }

  box.hidden = false;
  field.addEventListener("focus", load);
  field.addEventListener("input", find);
  box.addEventListener("keydown", (event) => {
    const links = [field, ...hits.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) links[links.indexOf(document.activeElement) + step]?.focus();
    else if (event.key === "Enter" && document.activeElement === field) links[1]?.click();
    else if (event.key === "Escape") hits.hidden = true;
    else return;
    event.preventDefault();
  });
  addEventListener("click", (event) => { if (!box.contains(event.target)) hits.hidden = true; });
  hits.addEventListener("click", (event) => { if (event.target.closest("a")) hits.hidden = true; });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    field.focus();
  });

  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1).split("?")[0]));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
// A page that is served is loaded again when it has been made again.
if (location.protocol.startsWith("http")) {
  const made = async () => (await fetch(location.pathname, { method: "HEAD" })).headers.get("Last-Modified");
  made().then((first) => setInterval(async () => (await made().catch(() => first)) !== first && location.reload(), 3000));
}
