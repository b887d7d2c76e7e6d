"use strict";
// Pictures that can be asked: methods are hidden and isolated, rounds zoomed into, numbers read with pointer and keys.
// The address keeps it: #paper?paper=TL&log-paper=1&zoom-paper=100:900
(() => {
  const plots = [...document.querySelectorAll(".plot")];
  const tip = document.getElementById("tip");
  const states = new Map(plots.map((plot) => [plot, { off: new Set(), log: false, zoom: null, panel: "" }]));
  const drawn = new WeakMap(); // by panel what it shows
  const tools = new Map(); // by plot its select of panels, its button of the scale and that of the zoom
  const methods = (plot) => [...plot.querySelectorAll("[data-method]")].map((button) => button.dataset.method);
  const data = new WeakMap();
  const panelsOf = (plot) => [...plot.querySelectorAll(".picture")];

  function drawPanel(plot, panel) {
    if (!panel.clientWidth) return; // folded
    if (!data.has(panel)) data.set(panel, JSON.parse(panel.querySelector("script").textContent));
    drawn.set(panel, panel.drawn = draw.panel(panel, data.get(panel), states.get(plot)));
  }

  function show(plot) {
    const state = states.get(plot);
    const { select, log, whole } = tools.get(plot);
    for (const row of plot.querySelectorAll("tr[data-name]")) row.classList.toggle("off", state.off.has(row.dataset.name));
    for (const button of plot.querySelectorAll("[data-method]")) {
      button.setAttribute("aria-pressed", String(!state.off.has(button.dataset.method)));
    }
    log?.setAttribute("aria-pressed", String(state.log));
    if (whole) whole.hidden = !state.zoom;
    if (select) select.value = state.panel;
    plot.querySelector(".panels")?.classList.toggle("one", state.panel !== "");
    panelsOf(plot).forEach((panel, i) => {
      panel.classList.toggle("away", state.panel !== "" && state.panel !== String(i));
      drawPanel(plot, panel);
    });
  }

  function write(anchor) {
    const view = new URLSearchParams();
    for (const [plot, state] of states) {
      const name = plot.dataset.view;
      for (const method of state.off) view.append(name, method);
      if (state.panel) view.append(`panel-${name}`, +state.panel + 1);
      if (state.log) view.append(`log-${name}`, 1);
      if (state.zoom) view.append(`zoom-${name}`, state.zoom.map((end) => +end.toPrecision(4)).join(":"));
    }
    const query = view.toString();
    if (anchor || query) history.replaceState(null, "", "#" + anchor + (query ? "?" + query : ""));
  }

  function read() {
    const [anchor, query] = location.hash.slice(1).split("?");
    const target = document.getElementById(decodeURIComponent(anchor));
    if (target?.matches("details")) target.open = true;
    if (query === undefined) return; // a plain link within the page: what is hidden stays so
    const view = new URLSearchParams(query);
    for (const [plot, state] of states) {
      const name = plot.dataset.view;
      const zoom = (view.get(`zoom-${name}`) ?? "").split(":").map(Number);
      const panel = +view.get(`panel-${name}`);
      state.off = new Set(view.getAll(name).filter((method) => methods(plot).includes(method)));
      state.log = view.has(`log-${name}`);
      state.zoom = zoom.length === 2 && zoom[0] < zoom[1] ? zoom : null;
      state.panel = panel >= 1 && panel <= panelsOf(plot).length && tools.get(plot).select ? String(panel - 1) : "";
      if (state.off.size || state.panel || state.log || state.zoom) plot.closest("details")?.setAttribute("open", "");
      show(plot);
    }
    target?.scrollIntoView();
  }

  function change(plot, how) {
    Object.assign(states.get(plot), how);
    show(plot);
    write(encodeURIComponent(plot.dataset.view));
  }

  function onClick(plot, event) {
    const { method, only, all } = event.target.closest("button")?.dataset ?? {};
    let off = new Set(states.get(plot).off);
    if (method !== undefined) off.has(method) ? off.delete(method) : off.add(method);
    else if (only !== undefined) off = new Set(methods(plot).filter((name) => name !== only));
    else if (all !== undefined) off = new Set();
    else return;
    change(plot, { off });
  }

  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function words({ name, case: of, what = "", label = "", ends = "" }, [x, value, low, high, n]) {
    const rows = [name, of];
    if (x !== null) rows.push(`${label} ${x.toLocaleString("en")}`.trim());
    rows.push(`${what} ${short(value)}`.trim() + (low === null ? "" : ` [${short(low)}, ${short(high)}]`));
    const basis = [n === null ? "" : `${n} repetition${n === 1 ? "" : "s"}`, low === null ? "" : ends];
    rows.push(basis.filter(Boolean).join(", "));
    return rows.filter(Boolean).join("\n");
  }

  // The lines that have a value at each round, and what they say at the round nearest to x, the largest first.
  const lines = (marks, off) => marks.filter(({ part, name, points, across }) => ["line", "bound"].includes(part)
    && !across && !off.has(name) && points.length > 2 && points.every((point) => typeof point[0] === "number"));

  function atRound(across, x) {
    const spots = across.flatMap(({ points, at }) => points.map((point, i) => [point[0], at[i]?.[0]]));
    const [place, spot] = spots.reduce((a, b) => (Math.abs(b[1] - x) < Math.abs(a[1] - x) ? b : a));
    const rows = across.map((mark) => [mark, mark.points.find((point) => point[0] === place)]).filter(([, point]) => point)
      .sort((a, b) => b[1][1] - a[1][1]);
    const said = rows.map(([mark, point]) => `${mark.part === "bound" ? "bound of " : ""}${mark.name} ${short(point[1])}`);
    return { x: spot, place, text: [`${across[0].label ?? ""} ${place.toLocaleString("en")}`.trim(), ...said].join("\n") };
  }

  function follow(plot, panel) {
    const state = states.get(plot);
    const part = (name, parts) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(parts)) node.setAttribute(key, value);
      return node;
    };
    const [dot, line] = [part("circle", { r: 5, class: "cross" }), part("path", { class: "cross" })];
    const range = part("rect", { class: "zoom" });
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    let [start, round] = [null, null]; // where a drag began, and where the keys are
    const own = (event) => {
      const box = drawn.get(panel).svg.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    function leave() {
      tip.hidden = true;
      dot.remove();
      line.remove();
    }
    function nearest({ x, y }) {
      let best = { distance: 25 };
      for (const mark of drawn.get(panel).marks) {
        if (state.off.has(mark.name) || !mark.number) continue;
        mark.points.forEach((point, i) => {
          const { box } = mark;
          const at = box ? [clamp(x, box[0], box[1]), clamp(y, box[2], box[3])] : mark.at[i] && [mark.at[i][0] ?? x, mark.at[i][1] ?? y];
          if (!at || point[1] === null) return;
          // What lies on an area, or on a line across the panel, comes first.
          const behind = box && box[0] < box[1] ? 4 : mark.across ? 2 : 0;
          const distance = Math.hypot(at[0] - x, at[1] - y) + behind;
          if (distance < best.distance) best = { distance, mark, at, point };
        });
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
      const { svg, top, bottom } = drawn.get(panel);
      line.setAttribute("d", `M${x} ${top}V${bottom}`);
      svg.append(line);
    }
    function move(event) {
      const { svg, marks, left, right, top, bottom } = drawn.get(panel);
      const at = own(event);
      leave();
      if (start !== null && Math.abs(at.x - start) > 6) {
        const [from, to] = [start, clamp(at.x, left, right)].sort((a, b) => a - b);
        for (const [key, value] of Object.entries({ x: from, width: to - from, y: top, height: bottom - top })) range.setAttribute(key, value);
        return svg.append(range);
      }
      const best = nearest(at);
      if (best.mark) {
        dot.setAttribute("cx", best.at[0]);
        dot.setAttribute("cy", best.at[1]);
        svg.append(dot);
      }
      const across = lines(marks, state.off);
      const all = across.length > 1 && at.x >= left ? atRound(across, best.mark ? best.at[0] : at.x) : null;
      if (all) cross(all.x);
      say([best.mark && words(best.mark, best.point), all?.text].filter(Boolean).join("\n\n"), event.clientX, event.clientY);
    }
    function release(event) {
      const { left, right, back } = drawn.get(panel);
      const ends = [start, clamp(own(event).x, left, right)].sort((a, b) => a - b);
      range.remove();
      const isDragged = start !== null && ends[1] - ends[0] > 10;
      start = null;
      if (isDragged) change(plot, { zoom: ends.map(back) });
    }
    function step(event) {
      const { svg, marks, left, right, top, back } = drawn.get(panel);
      const across = lines(marks, state.off);
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (event.key === "Escape") return leave();
      if (event.key === "l" && tools.get(plot).log) return change(plot, { log: !state.log });
      if (event.key === "0") return change(plot, { zoom: null });
      if ("+-".includes(event.key)) {
        const middle = round === null || !across.length ? (left + right) / 2 : atRound(across, round).x;
        const half = ((right - left) / 2) * (event.key === "+" ? 0.5 : 2);
        const ends = [middle - half, middle + half].map((x) => (event.key === "+" ? clamp(x, left, right) : x));
        return change(plot, { zoom: event.key === "-" && !state.zoom ? null : ends.map(back) });
      }
      if (!by || !across.length) return;
      event.preventDefault();
      const places = [...new Set(across.flatMap(({ at }) => at.map((spot) => spot[0])))].filter((x) => x >= left - 1 && x <= right + 1)
        .sort((a, b) => a - b);
      const now = round === null ? (by > 0 ? -1 : places.length) : places.findIndex((x) => x >= round - 0.5);
      round = places[clamp(now + by, 0, places.length - 1)];
      const box = svg.getBoundingClientRect();
      cross(round);
      say(atRound(across, round).text, box.left + round, Math.max(60, box.top + top));
    }
    const view = panel.querySelector("[role=img]");
    view.addEventListener("pointermove", move);
    view.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && own(event).x >= drawn.get(panel).left) start = own(event).x;
      move(event);
    });
    view.addEventListener("pointerup", release);
    view.addEventListener("dblclick", () => change(plot, { zoom: null }));
    view.addEventListener("pointerleave", (event) => {
      start = null;
      range.remove();
      if (event.pointerType === "mouse") leave();
    });
    panel.addEventListener("keydown", step);
    panel.addEventListener("blur", leave);
    addEventListener("scroll", leave, { passive: true });
  }

  function button(text, onClick) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", onClick);
    return made;
  }

  function equip(plot) {
    const panels = panelsOf(plot);
    const found = {};
    const legend = plot.querySelector(".legend");
    if (panels.length > 1) {
      const label = document.createElement("label");
      const select = found.select = document.createElement("select");
      ["all", ...panels.map((panel) => panel.dataset.title)].forEach((title, i) => select.append(new Option(title, i ? i - 1 : "")));
      label.className = "key";
      label.append("Panel ", select);
      legend?.append(label);
      select.addEventListener("change", () => {
        const before = select.getBoundingClientRect().top;
        change(plot, { panel: select.value });
        scrollBy(0, select.getBoundingClientRect().top - before); // what the reader looks at stays where it is
        const { top } = plot.getBoundingClientRect();
        if (top < 0) scrollBy(0, top - 60);
      });
    }
    if (panels.length) {
      found.log = button("log", () => change(plot, { log: !states.get(plot).log }));
      found.log.title = "logarithmic or linear";
      found.whole = button("whole range", () => change(plot, { zoom: null }));
      legend?.append(found.log, found.whole);
    }
    tools.set(plot, found);
  }

  for (const sample of document.querySelectorAll(".sample")) {
    draw.sample(sample, JSON.parse(sample.dataset.look), "box" in sample.dataset);
  }
  for (const plot of plots) {
    equip(plot);
    plot.addEventListener("click", (event) => onClick(plot, event));
    for (const panel of panelsOf(plot)) follow(plot, panel);
    show(plot);
    // Panels are drawn anew where their width changes, and first where they are unfolded.
    const widths = new WeakMap();
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) if (widths.get(target) !== target.clientWidth) {
        widths.set(target, target.clientWidth);
        drawPanel(plot, target);
      }
    });
    for (const panel of panelsOf(plot)) {
      widths.set(panel, panel.clientWidth);
      observer.observe(panel);
    }
  }
  addEventListener("hashchange", read);
  read();
})();
