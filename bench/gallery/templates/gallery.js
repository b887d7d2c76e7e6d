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
// Pictures: the legend hides and isolates methods, pointer and arrow keys read numbers.
(() => {
  const tip = document.getElementById("tip");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function words({ name, case: of, what = "", label = "", ends = "" }, [x, value, low, high, n]) {
    const interval = low === null ? "" : ` [${short(low)}, ${short(high)}]`;
    const basis = [n === null ? "" : `${n} repetition${n === 1 ? "" : "s"}`, low === null ? "" : ends];
    const place = x === null ? "" : `${label} ${x.toLocaleString("en")}`.trim();
    return [name, of, place, `${what} ${short(value)}`.trim() + interval, basis.filter(Boolean).join(", ")].filter(Boolean).join("\n");
  }

  // What all lines say at the round nearest to x, the largest first.
  function atRound(lines, x) {
    const [at, round] = lines.flatMap(({ at, points }) => points.map((point, i) => [at[i][0], point[0]]))
      .reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
    const rows = lines.map((mark) => [mark, mark.points.find((point) => point[0] === round)?.[1]]).filter(([, value]) => value !== undefined)
      .sort((a, b) => b[1] - a[1]).map(([mark, value]) => `${mark.part === "bound" ? "bound of " : ""}${mark.name} ${short(value)}`);
    return { at, text: [`${lines[0].label ?? ""} ${round.toLocaleString("en")}`.trim(), ...rows].join("\n") };
  }

  function say(text, x, y) {
    tip.textContent = text;
    tip.hidden = !text;
    const above = y - tip.offsetHeight - 12;
    tip.style.left = `${clamp(x + 14, 4, innerWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${above < 4 ? y + 18 : above}px`;
  }

  function equip(panel, off) {
    const { marks, frame: [left, top, right, bottom] } = panel.numbers = JSON.parse(panel.querySelector("script").textContent);
    const svg = panel.querySelector("svg");
    const sign = document.createElementNS("http://www.w3.org/2000/svg", "path");
    sign.classList.add("cross");
    const scale = () => svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
    const shown = () => marks.filter(({ name }) => !off.has(name));
    const lines = () => shown().filter(({ part, points, across }) => ["line", "bound"].includes(part) && !across
      && points.length > 2 && points.every(([place]) => typeof place === "number"));
    let round = null; // where the keys are

    function nearest(x, y) {
      let best = { distance: 20 };
      for (const mark of shown()) mark.points.forEach((point, i) => {
        const { box } = mark;
        if (point[1] === null) return;
        const at = box ? [clamp(x, box[0], box[1]), clamp(y, box[2], box[3])] : [mark.at[i][0] ?? x, mark.at[i][1] ?? y];
        // What lies on an area, or on a line across the panel, comes first.
        const distance = Math.hypot(at[0] - x, at[1] - y) + (box && box[0] < box[1] ? 3 : mark.across ? 1.5 : 0);
        if (distance < best.distance) best = { distance, mark, at, point };
      });
      return best;
    }
    function leave() {
      tip.hidden = true;
      sign.remove();
    }
    function draw(d) {
      sign.setAttribute("d", d);
      svg.append(sign);
    }
    function move(event) {
      const box = svg.getBoundingClientRect();
      const [x, y] = [(event.clientX - box.left) * scale(), (event.clientY - box.top) * scale()];
      const { mark, point, at } = nearest(x, y);
      const own = lines();
      const all = own.length > 1 && x >= left && x <= right ? atRound(own, mark ? at[0] : x) : null;
      draw((mark ? `M${at[0] - 4} ${at[1]}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0` : "") + (all ? `M${all.at} ${top}V${bottom}` : ""));
      say([mark && words(mark, point), all?.text].filter(Boolean).join("\n\n"), event.clientX, event.clientY);
    }
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
    panel.addEventListener("blur", leave);
    addEventListener("scroll", leave, { passive: true });
    panel.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      const own = lines();
      if (event.key === "Escape") leave();
      if (!by || !own.length) return;
      event.preventDefault();
      const places = [...new Set(own.flatMap(({ at }) => at.map(([x]) => x)))].sort((a, b) => a - b);
      const now = round === null ? (by > 0 ? -1 : places.length) : places.findIndex((x) => x >= round - 0.5);
      round = places[clamp(now + by, 0, places.length - 1)];
      const box = svg.getBoundingClientRect();
      draw(`M${round} ${top}V${bottom}`);
      say(atRound(own, round).text, box.left + round / scale(), Math.max(60, box.top + top / scale()));
    });
  }

  for (const plot of document.querySelectorAll(".plot")) {
    const off = new Set();
    const buttons = [...plot.querySelectorAll("[data-method]")];
    plot.addEventListener("click", ({ target }) => {
      const { method, only, all } = target.closest("button")?.dataset ?? {};
      if (method !== undefined) off.delete(method) || off.add(method);
      else if (only !== undefined) for (const { dataset } of buttons) dataset.method === only ? off.delete(only) : off.add(dataset.method);
      else if (all !== undefined) off.clear();
      for (const part of plot.querySelectorAll("[data-name]")) part.classList.toggle("off", off.has(part.dataset.name));
      for (const button of buttons) button.setAttribute("aria-pressed", String(!off.has(button.dataset.method)));
    });
    for (const panel of plot.querySelectorAll(".picture")) equip(panel, off);
  }
})();
