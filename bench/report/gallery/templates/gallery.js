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

  function follow(plot, panel) {
    const svg = panel.querySelector("svg");
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("fill", "none");
    dot.setAttribute("stroke", "#000");
    let marks;
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    // Where a point is: anywhere along a line across the panel, anywhere in a box.
    function spot({ box }, [, , , , , x, y], own) {
      return box ? [clamp(own.x, box[0], box[1]), clamp(own.y, box[2], box[3])] : [x ?? own.x, y ?? own.y];
    }
    function leave() {
      tip.hidden = true;
      dot.remove();
    }
    function move(event) {
      marks ??= JSON.parse(panel.querySelector("script").textContent);
      const own = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const off = hidden.get(plot.dataset.view);
      let best = { distance: 25 };
      for (const mark of marks) {
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
      if (!best.mark) return leave();
      for (const [key, value] of [["cx", best.x], ["cy", best.y], ["r", 4]]) dot.setAttribute(key, value);
      svg.append(dot);
      tip.textContent = words(best.mark, best.point);
      tip.hidden = false;
      const above = event.clientY - tip.offsetHeight - 12;
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${above < 4 ? event.clientY + 18 : above}px`;
    }
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
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
      show(plot);
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
