"use strict";
// Hides and isolates methods, reads numbers off lines, and keeps what is hidden in the address: #figure2?plot-id=method
(() => {
  const plots = [...document.querySelectorAll(".plot")];
  const tip = document.getElementById("tip");
  const hidden = new Map(plots.map((plot) => [plot.id, new Set()]));
  const methods = (plot) => [...plot.querySelectorAll("[data-method]")].map((button) => button.dataset.method);

  function show(plot) {
    const off = hidden.get(plot.id);
    for (const part of plot.querySelectorAll("[data-name]")) part.classList.toggle("off", off.has(part.dataset.name));
    for (const text of plot.querySelectorAll("[id$='legend_1'] text")) text.classList.toggle("dim", off.has(text.textContent));
    for (const button of plot.querySelectorAll("[data-method]")) {
      button.setAttribute("aria-pressed", String(!off.has(button.dataset.method)));
    }
  }

  function write(anchor) {
    const view = new URLSearchParams();
    for (const [id, names] of hidden) for (const name of names) view.append(id, name);
    const query = view.toString();
    if (anchor || query) history.replaceState(null, "", "#" + anchor + (query ? "?" + query : ""));
  }

  function read() {
    const [anchor, query] = location.hash.slice(1).split("?");
    if (query === undefined) return write(anchor); // a plain link within the page: what is hidden stays so
    const view = new URLSearchParams(query);
    for (const plot of plots) {
      const known = methods(plot);
      hidden.set(plot.id, new Set(view.getAll(plot.id).filter((name) => known.includes(name))));
      show(plot);
      if (hidden.get(plot.id).size) plot.closest("details")?.setAttribute("open", "");
    }
    document.getElementById(decodeURIComponent(anchor))?.scrollIntoView();
  }

  function onClick(plot, event) {
    const { method, only, all } = event.target.closest("button")?.dataset ?? {};
    let off = hidden.get(plot.id);
    if (method !== undefined) off.has(method) ? off.delete(method) : off.add(method);
    else if (only !== undefined) off = new Set(methods(plot).filter((name) => name !== only));
    else if (all !== undefined) off = new Set();
    else return;
    hidden.set(plot.id, off);
    show(plot);
    write(encodeURIComponent(plot.dataset.anchor));
  }

  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function words(line, [x, mean, low, high, n], { x: label, ends }) {
    const rows = [line.name, line.panel];
    if (x !== null) rows.push(`${label} ${x.toLocaleString("en")}`.trim());
    rows.push(short(mean) + (low === null ? "" : ` [${short(low)}, ${short(high)}]`));
    if (n !== null) rows.push(`${n} repetitions` + (low === null ? "" : `, ${ends}`));
    return rows.join("\n");
  }

  function follow(plot) {
    const svg = plot.querySelector("svg");
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("fill", "none");
    dot.setAttribute("stroke", "#000");
    let lines;
    function readLines() {
      return [...svg.querySelectorAll("[data-points]")].map((node) => ({
        node, name: node.dataset.name, panel: node.dataset.panel, points: JSON.parse(node.dataset.points),
        at: node.querySelector(":scope > path")?.getAttribute("d").match(/[ML][^A-Za-z]*/g)
          .map((piece) => piece.slice(1).trim().split(/\s+/).map(Number))
          ?? [...node.querySelectorAll("use")].map((mark) => [+mark.getAttribute("x"), +mark.getAttribute("y")]),
      }));
    }
    function leave() {
      tip.hidden = true;
      dot.remove();
    }
    function move(event) {
      lines ??= readLines();
      const own = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let best = { distance: 25 };
      for (const line of lines) {
        if (line.node.classList.contains("off")) continue;
        const level = line.points.length === 1; // a level line reads the same all along
        const spots = level ? [[Math.min(Math.max(own.x, line.at[0][0]), line.at.at(-1)[0]), line.at[0][1]]] : line.at;
        spots.forEach(([x, y], i) => {
          const distance = Math.hypot(x - own.x, y - own.y);
          if (distance < best.distance && line.points[i][1] !== null) best = { distance, line, x, y, point: line.points[i] };
        });
      }
      if (!best.line) return leave();
      for (const [key, value] of [["cx", best.x], ["cy", best.y], ["r", 4]]) dot.setAttribute(key, value);
      svg.append(dot);
      tip.textContent = words(best.line, best.point, plot.dataset);
      tip.hidden = false;
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${Math.max(4, event.clientY - tip.offsetHeight - 12)}px`;
    }
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
    addEventListener("scroll", leave, { passive: true });
  }

  for (const plot of plots) {
    plot.addEventListener("click", (event) => onClick(plot, event));
    follow(plot);
  }
  addEventListener("hashchange", read);
  read();
})();
