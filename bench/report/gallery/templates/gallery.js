"use strict";
// Hides and isolates methods, reads numbers off lines and marks, and keeps what is hidden in the address:
// #paper?paper=TL hides TL in the picture of scale paper.
(() => {
  const plots = [...document.querySelectorAll(".plot")];
  const tip = document.getElementById("tip");
  const hidden = new Map(plots.map((plot) => [plot.dataset.view, new Set()]));
  const chosen = new Map(); // by plot the select of its panel, where it has several
  const methods = (plot) => [...plot.querySelectorAll("[data-method]")].map((button) => button.dataset.method);

  function show(plot) {
    const off = hidden.get(plot.dataset.view);
    for (const part of plot.querySelectorAll("[data-name]")) part.classList.toggle("off", off.has(part.dataset.name));
    for (const button of plot.querySelectorAll("[data-method]")) {
      button.setAttribute("aria-pressed", String(!off.has(button.dataset.method)));
    }
    const panel = chosen.get(plot)?.value ?? "";
    plot.querySelector(".panels")?.classList.toggle("one", panel !== "");
    plot.querySelectorAll(".picture").forEach((own, i) => own.classList.toggle("away", panel !== "" && panel !== String(i)));
  }

  function write(anchor) {
    const view = new URLSearchParams();
    for (const [scale, names] of hidden) for (const name of names) view.append(scale, name);
    for (const [plot, select] of chosen) if (select.value) view.append(`panel-${plot.dataset.view}`, +select.value + 1);
    const query = view.toString();
    if (anchor || query) history.replaceState(null, "", "#" + anchor + (query ? "?" + query : ""));
  }

  function read() {
    const [anchor, query] = location.hash.slice(1).split("?");
    const target = document.getElementById(decodeURIComponent(anchor));
    if (target?.matches("details")) target.open = true;
    if (query === undefined) return write(anchor); // a plain link within the page: what is hidden stays so
    const view = new URLSearchParams(query);
    for (const plot of plots) {
      const known = methods(plot);
      const names = view.getAll(plot.dataset.view).filter((name) => known.includes(name));
      hidden.set(plot.dataset.view, new Set(names));
      const number = view.get(`panel-${plot.dataset.view}`);
      const select = chosen.get(plot);
      if (select) select.value = [...select.options].some((own) => own.value && +own.value + 1 === +number) ? +number - 1 : "";
      show(plot);
      if (names.length || select?.value) plot.closest("details")?.setAttribute("open", "");
    }
    target?.scrollIntoView();
  }

  function onClick(plot, event) {
    const { method, only, all } = event.target.closest("button")?.dataset ?? {};
    const view = plot.dataset.view;
    let off = hidden.get(view);
    if (method !== undefined) off.has(method) ? off.delete(method) : off.add(method);
    else if (only !== undefined) off = new Set(methods(plot).filter((name) => name !== only));
    else if (all !== undefined) off = new Set();
    else return;
    hidden.set(view, off);
    show(plot);
    write(encodeURIComponent(view));
  }

  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function words({ name, case: of, what = "", x: label = "", ends = "" }, [x, value, low, high, n]) {
    const rows = [name, of];
    if (x !== null) rows.push(`${label} ${x.toLocaleString("en")}`.trim());
    rows.push(`${what} ${short(value)}`.trim() + (low === null ? "" : ` [${short(low)}, ${short(high)}]`));
    const basis = [n === null ? "" : `${n} repetition${n === 1 ? "" : "s"}`, low === null ? "" : ends];
    rows.push(basis.filter(Boolean).join(", "));
    return rows.filter(Boolean).join("\n");
  }

  // The lines that have a value at each round, and what they say at one of them, the largest first.
  const lines = (marks, off) => marks.filter(({ part, name, points }) => ["line", "bound"].includes(part) && !off.has(name)
    && points.length > 2 && points.every((point) => typeof point[0] === "number" && point[5] !== null));

  function atRound(across, x) {
    const near = (points) => points.reduce((a, b) => (Math.abs(b[5] - x) < Math.abs(a[5] - x) ? b : a));
    const [place, , , , , spot] = near(across.flatMap(({ points }) => points));
    const rows = across.map((mark) => [mark, near(mark.points)]).filter(([, point]) => point[0] === place)
      .sort((a, b) => b[1][1] - a[1][1]);
    const said = rows.map(([mark, point]) => `${mark.part === "bound" ? "bound of " : ""}${mark.name} ${short(point[1])}`);
    return { x: spot, text: [`${across[0].x ?? ""} ${place.toLocaleString("en")}`.trim(), ...said].join("\n") };
  }

  function follow(plot, panel) {
    const svg = panel.querySelector("svg");
    const part = (name, parts) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(parts)) node.setAttribute(key, value);
      return node;
    };
    const [dot, line] = [part("circle", { r: 4, class: "cross" }), part("line", { y1: 0, y2: "100%", class: "cross" })];
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    let marks;
    let round; // where the keys are
    const read = () => marks ??= JSON.parse(panel.querySelector("script").textContent);
    // Where a point is: anywhere along a line across the panel, anywhere in a box.
    function spot({ box }, [, , , , , x, y], own) {
      return box ? [clamp(own.x, box[0], box[1]), clamp(own.y, box[2], box[3])] : [x ?? own.x, y ?? own.y];
    }
    function leave() {
      tip.hidden = true;
      dot.remove();
      line.remove();
    }
    function nearest(own, off) {
      let best = { distance: 25 };
      for (const mark of read()) {
        if (off.has(mark.name)) continue;
        for (const point of mark.points) {
          const [x, y] = spot(mark, point, own);
          // What lies on an area, or on a line across the panel, comes first.
          const isArea = mark.box && mark.box[0] < mark.box[1];
          const behind = isArea ? 4 : point.includes(null, 5) ? 2 : 0;
          const distance = Math.hypot(x - own.x, y - own.y) + behind;
          if (distance < best.distance) best = { distance, mark, x, y, point };
        }
      }
      return best;
    }
    function say(text, x, y) {
      tip.textContent = text;
      tip.hidden = !text;
      const above = y - tip.offsetHeight - 12;
      tip.style.left = `${clamp(x + 14, 4, innerWidth - tip.offsetWidth - 4)}px`;
      tip.style.top = `${above < 4 ? y + 18 : above}px`;
    }
    function cross(x) {
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      svg.append(line);
    }
    function move(event) {
      const own = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const off = hidden.get(plot.dataset.view);
      const best = nearest(own, off);
      const across = lines(read(), off);
      leave();
      if (best.mark) {
        dot.setAttribute("cx", best.x);
        dot.setAttribute("cy", best.y);
        svg.append(dot);
      }
      const all = across.length > 1 ? atRound(across, best.mark ? best.x : own.x) : null;
      if (all) cross(all.x);
      say([best.mark && words(best.mark, best.point), all?.text].filter(Boolean).join("\n\n"), event.clientX, event.clientY);
    }
    function step(event) {
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      const across = lines(read(), hidden.get(plot.dataset.view));
      if (event.key === "Escape") return leave();
      if (!by || !across.length) return;
      event.preventDefault();
      const places = [...new Set(across.flatMap(({ points }) => points.map((point) => point[5])))].sort((a, b) => a - b);
      round = clamp((round ?? (by > 0 ? -1 : places.length)) + by, 0, places.length - 1);
      const all = atRound(across, places[round]);
      cross(all.x);
      const at = new DOMPoint(all.x, 0).matrixTransform(svg.getScreenCTM());
      say(all.text, at.x, Math.max(60, at.y));
    }
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
    panel.addEventListener("keydown", step);
    panel.addEventListener("blur", leave);
    addEventListener("scroll", leave, { passive: true });
  }

  function choosePanel(plot, panels) {
    const label = document.createElement("label");
    const select = document.createElement("select");
    const titles = panels.map((panel) => panel.dataset.title);
    ["all", ...titles].forEach((title, i) => select.append(new Option(title, i ? i - 1 : "")));
    label.className = "key";
    label.append("Panel ", select);
    plot.querySelector(".legend")?.append(label);
    chosen.set(plot, select);
    select.addEventListener("change", () => {
      const before = select.getBoundingClientRect().top;
      show(plot);
      scrollBy(0, select.getBoundingClientRect().top - before); // what the reader looks at stays where it is
      const top = plot.getBoundingClientRect().top;
      if (top < 0) scrollBy(0, top - 60);
      write(encodeURIComponent(plot.dataset.view));
    });
  }

  for (const plot of plots) {
    const panels = [...plot.querySelectorAll(".picture")];
    if (panels.length > 1) choosePanel(plot, panels);
    plot.addEventListener("click", (event) => onClick(plot, event));
    for (const panel of plot.querySelectorAll(".picture")) follow(plot, panel);
  }
  addEventListener("hashchange", read);
  read();
})();
