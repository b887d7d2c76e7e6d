"use strict";
// Draws a panel from its numbers, with axes that follow what is shown, in the page's own size and colours.
const draw = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const [FONT, POINT] = [12, 1.25]; // the size of letters, and of a point, in pixels
  const RANDOM = "Random arms";
  const pen = document.createElement("canvas").getContext("2d");
  let count = 0;

  function node(name, parts = {}, text = "") {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(parts)) if (value !== undefined) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  }
  function wide(text) {
    pen.font = `${FONT}px system-ui, sans-serif`;
    return pen.measureText(text).width;
  }
  function ink(colour) {
    const hex = { black: "000000", white: "ffffff" }[colour] ?? colour.slice(1).toLowerCase();
    const [red, green, blue] = hex.match(/../g);
    if (red !== green || red !== blue) return `var(--x${hex}, #${hex})`;
    return { 0: "var(--text)", 1: "var(--text)", 2: "var(--text)", e: "var(--line)", f: "var(--back)" }[red[0]] ?? "var(--soft)";
  }
  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const numbers = (mark, which) => mark[which] ?? mark.points.map((point) => point[mark.number === which ? 1 : 0]);
  const isAcross = (mark) => mark.across !== undefined;

  // To the scale of an axis and back; a logarithmic one with numbers on both sides of 0 is linear up to `linear`.
  function warp(axis, isLog) {
    const { linear } = axis;
    if (!isLog) return [(value) => value, (value) => value];
    if (!linear) return [(value) => Math.log(Math.max(value, 1e-300)), Math.exp];
    return [
      (value) => (Math.abs(value) <= linear ? value / linear : Math.sign(value) * (1 + Math.log10(Math.abs(value) / linear))),
      (value) => (Math.abs(value) <= 1 ? value * linear : Math.sign(value) * linear * 10 ** (Math.abs(value) - 1)),
    ];
  }

  // The ends of an axis: as given as long as all is shown, else of what is shown.
  function ends(data, state, which, isLog, shown) {
    const axis = data[which];
    if (data.rows && which === "y") return [axis.low, axis.high];
    const [isX, isAll] = [which === "x", !state.off.size && !state.zoom && isLog === Boolean(axis.log)];
    if (isX && state.zoom) return state.zoom;
    const values = [];
    for (const mark of shown) {
      if (mark.across === which || (mark.name === RANDOM && known(axis.high) && !isX)) continue;
      const places = isX || isAcross(mark) ? [] : numbers(mark, "x");
      numbers(mark, which).forEach((value, i) => {
        if (state.zoom && (places[i] < state.zoom[0] || places[i] > state.zoom[1])) return;
        values.push(value, ...(mark.number === which && mark.points?.[i] ? mark.points[i].slice(2, 4) : []));
      });
    }
    const usable = values.filter((value) => known(value) && (!isLog || axis.linear || value > 0));
    let [low, high] = [Math.min(...usable), Math.max(...usable)];
    if (!usable.length) [low, high] = isLog ? [1, 10] : [0, 1];
    const [to, from] = warp(axis, isLog);
    const room = 0.05 * (to(high) - to(low) || Math.abs(to(high)) || 1);
    [low, high] = [from(to(low) - room), from(to(high) + room)];
    if (known(axis.low) && (isAll || isX || (axis.low === 0 && !isLog))) low = axis.low;
    if (known(axis.high) && (isAll || isX)) high = axis.high;
    return [low, high];
  }

  function ticks(axis, [low, high], isLog, room) {
    const inside = (value) => value >= low - 1e-9 * Math.abs(low) && value <= high + 1e-9 * Math.abs(high);
    if (axis.ticks) return axis.ticks.map((at, i) => [at, axis.names?.[i] ?? word(at)]).filter(([at]) => inside(at));
    const found = [];
    if (isLog && axis.linear) {
      const most = Math.log10(Math.max(-low, high) / axis.linear);
      const every = Math.max(1, Math.ceil((2 * most * 30) / room));
      for (let power = 0; power <= most; power += every) found.push(axis.linear * 10 ** power, -axis.linear * 10 ** power);
      found.push(0);
      return found.filter(inside).sort((a, b) => a - b).map((at) => [at, word(at)]);
    }
    if (isLog && high > 5 * low) {
      const several = high > 1000 * low ? [1] : high > 20 * low ? [1, 3] : [1, 2, 5];
      const powers = Math.log10(high / low);
      const every = Math.max(1, Math.ceil((powers * several.length * 45) / room));
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        if (power % every && several.length === 1) continue;
        for (const times of several) if (inside(times * 10 ** power)) found.push(times * 10 ** power);
      }
    } else {
      const rough = (high - low) / Math.max(2, Math.floor(room / 45));
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
      for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-12) + 1e-12; at++) found.push(at * step);
    }
    return found.map((at) => [at, word(at)]);
  }
  const word = (value) => Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });

  function lines(name, room) {
    const rows = [];
    for (const part of String(name).split("\n")) {
      let row = "";
      for (const next of part.split(" ")) {
        if (row && wide(`${row} ${next}`) > room) {
          rows.push(row);
          row = next;
        } else row = row ? `${row} ${next}` : next;
      }
      rows.push(row);
    }
    return rows;
  }

  const ring = (corners, start, size, inner = 1) => Array.from({ length: corners }, (_, i) => {
    const [turn, radius] = [start + (2 * Math.PI * i) / corners, size * (i % 2 ? inner : 1)];
    return `${(radius * Math.cos(turn)).toFixed(2)} ${(radius * Math.sin(turn)).toFixed(2)}`;
  });
  function sign(kind, r) {
    const up = -Math.PI / 2;
    const shapes = {
      s: () => ring(4, Math.PI / 4, 1.3 * r), D: () => ring(4, up, 1.25 * r), "^": () => ring(3, up, 1.2 * r), v: () => ring(3, -up, 1.2 * r),
      "<": () => ring(3, Math.PI, 1.2 * r), ">": () => ring(3, 0, 1.2 * r), p: () => ring(5, up, r), h: () => ring(6, up, r), H: () => ring(6, 0, r),
      "*": () => ring(10, up, 1.35 * r, 0.42), d: () => [`0 ${-1.2 * r}`, `${0.7 * r} 0`, `0 ${1.2 * r}`, `${-0.7 * r} 0`],
      P: () => cross(r, 0), X: () => cross(r, Math.PI / 4),
    };
    if (kind === "x") return `M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`;
    if (kind === "|") return `M0 ${-r}V${r}`;
    if (shapes[kind]) return `M${shapes[kind]().join("L")}Z`;
    return `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }
  function cross(r, turn) {
    const t = r / 3;
    const corners = [[-t, -r], [t, -r], [t, -t], [r, -t], [r, t], [t, t], [t, r], [-t, r], [-t, t], [-r, t], [-r, -t], [-t, -t]];
    return corners.map(([x, y]) => `${x * Math.cos(turn) - y * Math.sin(turn)} ${x * Math.sin(turn) + y * Math.cos(turn)}`);
  }

  function stroke(look) {
    const size = POINT * (look.width || 1.5);
    const dash = Array.isArray(look.dash) ? look.dash[1].map((part) => (part * size).toFixed(1)).join(" ") : undefined;
    return { fill: "none", "stroke-width": size, "stroke-dasharray": dash, style: `stroke:${ink(look.color)}`, "stroke-opacity": look.alpha };
  }
  function dots(look, spots) {
    const r = (POINT * (look.size || 5)) / 2;
    const path = sign(look.marker, r);
    const group = node("g", { style: `fill:${look.fill === "none" || "x|".includes(look.marker) ? "none" : ink(look.fill || look.color)};stroke:${ink(look.edge || look.color)}`,
      "stroke-width": look.edge_width ?? 1, opacity: look.alpha });
    for (const [x, y] of spots) group.append(node("path", { d: path, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }));
    return group;
  }
  const path = (spots) => {
    let isNext = false;
    return spots.map((spot) => {
      if (!spot) return (isNext = false) || "";
      const step = `${isNext ? "L" : "M"}${spot[0].toFixed(1)} ${spot[1].toFixed(1)}`;
      isNext = true;
      return step;
    }).join("");
  };

  // Returns the parts of a mark; where its points are is kept in `at`, of boxes in `box`.
  function parts(mark, place, [left, right, top, bottom]) {
    const { look, part } = mark;
    const found = [];
    const add = (name, element) => {
      element.dataset.part = name;
      element.dataset.name = mark.name;
      found.push(element);
    };
    const isX = mark.number === "x";
    const own = isX ? "x" : "y";
    const end = (i, side) => place[own](mark.points[i][2 + side]);
    if (isAcross(mark)) {
      const value = place[own](mark.points[0][1]);
      mark.at = [isX ? [value, null] : [null, value]];
      if (known(mark.points[0][2]) && mark.interval) {
        const [a, b] = [end(0, 0), end(0, 1)];
        const size = isX ? { x: a, y: top, width: b - a, height: bottom - top } : { x: left, y: b, width: right - left, height: a - b };
        add("band", node("rect", { ...size, style: `fill:${ink(look.color)}`, opacity: 0.1 }));
      }
      add(part, node("path", { d: isX ? `M${value} ${top}V${bottom}` : `M${left} ${value}H${right}`, ...stroke(look) }));
      return found;
    }
    const [xs, ys] = [numbers(mark, "x"), numbers(mark, "y")];
    const spots = xs.map((x, i) => (known(x) && known(ys[i]) ? [place.x(x), place.y(ys[i])] : null));
    mark.at = mark.number ? spots : [];
    if (mark.shape === "box" || mark.shape === "tick") {
      const [y0, y1] = [place.y(ys[0] - mark.half), place.y(ys[0] + mark.half)].sort((a, b) => a - b);
      const [x0, x1] = mark.shape === "box" ? [end(0, 0), end(0, 1)] : [spots[0][0], spots[0][0]];
      mark.box = [x0, x1, y0, y1];
      if (mark.shape === "box") add(part, node("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, style: `fill:${ink(look.color)};stroke:${ink(look.color)}`, opacity: look.alpha }));
      add(part, node("path", { d: `M${spots[0][0]} ${y0}V${y1}`, ...stroke({ color: look.color, width: look.width || 1 }) }));
      return found;
    }
    const sure = mark.interval ? spots.map((spot, i) => (spot && known(mark.points[i]?.[2]) ? i : -1)).filter((i) => i >= 0) : [];
    const at = (i, side) => (isX ? [end(i, side), spots[i][1]] : [spots[i][0], end(i, side)]);
    if (sure.length && mark.interval === "band") {
      const around = [...sure.map((i) => at(i, 1)), ...sure.toReversed().map((i) => at(i, 0))];
      add("band", node("path", { d: `${path(around)}Z`, style: `fill:${ink(look.color)}`, opacity: 0.16 }));
    } else if (sure.length) {
      const size = mark.interval === "bars" ? 1 : look.width || 2.2;
      const caps = mark.interval === "bars" ? sure.flatMap((i) => [0, 1].map((side) => `M${at(i, side)[0] - 3} ${at(i, side)[1]}h6`)).join("") : "";
      const d = sure.map((i) => path([at(i, 0), at(i, 1)])).join("") + caps;
      add(part === "line" ? "bars" : `${part} bars`, node("path", { d, ...stroke({ color: look.color, width: size }) }));
    }
    const group = node("g");
    if (look.dash !== "none") group.append(node("path", { d: path(spots), ...stroke(look) }));
    const [first, step] = mark.every ?? [0, 1];
    if (look.marker) group.append(dots(look, spots.filter((spot, i) => spot && i >= first && (i - first) % step === 0)));
    add(part, group);
    return found;
  }

  function panel(box, data, state) {
    const width = Math.max(box.clientWidth, 220);
    const height = data.rows ? Math.max(1.3 * data.height, 90) : Math.min(Math.max((width * data.height) / data.width, 180), 460);
    const own = data.rows ? "x" : "y";
    const isLog = { x: Boolean(data.x.log), y: Boolean(data.y.log) };
    if (state.log) isLog[own] = !isLog[own];
    const shown = data.marks.filter((mark) => !state.off.has(mark.name));
    const domain = { x: ends(data, state, "x", isLog.x, shown), y: ends(data, state, "y", isLog.y, shown) };
    const names = data.rows ? (data.y.names ?? []).map((name) => lines(name, 0.42 * width)) : [];
    const up = data.rows ? [] : ticks(data.y, domain.y, isLog.y, 1.2 * (height - 50));
    const left = data.rows ? 10 + Math.max(0, ...names.flat().map(wide)) : 12 + Math.max(0, ...up.map(([, name]) => wide(name))) + (data.y.label ? 18 : 0);
    const beside = (data.texts ?? []).filter((text) => text.on === "x" && text.x >= 1); // numbers right of the panel, and their heads
    const right = width - 14 - Math.max(0, ...beside.map((text) => POINT * text.offset + (text.align === "right" ? 0 : wide(text.words))));
    const top = beside.some((text) => text.y < Math.min(...domain.y)) ? 24 : 8;
    const bottom = height - 22 - (data.x.label ? 17 : 0);
    const across = ticks(data.x, domain.x, isLog.x, right - left);
    const scale = (which, from, to) => {
      const [there, back] = warp(data[which], isLog[which]);
      const [low, high] = domain[which].map(there);
      const spot = (value) => from + ((there(value) - low) / (high - low || 1)) * (to - from);
      return [spot, (at) => back(low + ((at - from) / (to - from)) * (high - low))];
    };
    const [x, back] = scale("x", left, right);
    const place = { x, y: scale("y", bottom, top)[0] };
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
    const clip = `clip${count++}`;
    const frame = node("clipPath", { id: clip });
    frame.append(node("rect", { x: left - 5, y: top - 6, width: right - left + 10, height: bottom - top + 11 }));
    const grid = node("path", { class: "grid", d: across.map(([at]) => `M${place.x(at)} ${top}V${bottom}`).join("") + up.map(([at]) => `M${left} ${place.y(at)}H${right}`).join("") });
    svg.append(frame, grid);
    for (const height of data.lines ?? []) svg.append(node("path", { class: "grid", d: `M${left} ${place.y(height)}H${right}` }));
    svg.append(node("path", { class: "spine", d: `M${left} ${top}V${bottom}H${right}` }));
    let last = -Infinity;
    for (const [at, name] of across) {
      const [x, half] = [place.x(at), wide(name) / 2];
      if (x - half < last + 6) continue; // no number on another
      last = x + half;
      svg.append(node("text", { x: Math.min(x, width - half), y: bottom + 16, "text-anchor": "middle" }, name));
    }
    for (const [at, name] of up) svg.append(node("text", { x: left - 6, y: place.y(at) + 4, "text-anchor": "end" }, name));
    names.forEach((rows, i) => rows.forEach((row, j) => {
      svg.append(node("text", { x: left - 6, y: place.y(data.y.ticks[i]) + 4 + 13 * (j - (rows.length - 1) / 2), "text-anchor": "end" }, row));
    }));
    if (data.x.label) svg.append(node("text", { x: (left + right) / 2, y: height - 5, "text-anchor": "middle", class: "label" }, data.x.label));
    if (data.y.label && !data.rows) svg.append(node("text", { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" }, data.y.label));
    const inside = node("g", { "clip-path": `url(#${clip})` });
    for (const mark of [...data.marks].sort((a, b) => (a.look.order ?? 3) - (b.look.order ?? 3))) {
      for (const element of parts(mark, place, [left, right, top, bottom])) {
        element.classList.toggle("off", state.off.has(mark.name));
        inside.append(element);
      }
    }
    svg.append(inside);
    for (const text of data.texts ?? []) {
      const x = text.on ? left + text.x * (right - left) : place.x(text.x);
      const y = text.on === "xy" ? bottom - text.y * (bottom - top) : place.y(text.y);
      if (text.name && state.off.has(text.name) || (state.off.size && text.on === "xy")) continue;
      const anchor = { right: "end", center: "middle" }[text.align] ?? "start";
      svg.append(node("text", { x: x + POINT * text.offset, y: y + (text.on === "xy" ? 9 : 4), "text-anchor": anchor, class: "label" }, text.words));
    }
    if (!data.marks.length && !(data.texts ?? []).length) svg.append(node("text", { x: (left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle", class: "label" }, "no results yet"));
    box.querySelector("[role=img]").replaceChildren(svg);
    return { svg, marks: data.marks, left, right, top, bottom, back };
  }

  function sample(box, look, isBox) {
    const svg = node("svg", { viewBox: "0 0 34 17", width: 34, height: 17 });
    if (isBox) svg.append(node("rect", { x: 6, y: 4, width: 22, height: 9, style: `fill:${ink(look.color)}`, opacity: look.alpha }));
    else {
      if (look.dash !== "none") svg.append(node("path", { d: "M1 8.5H33", ...stroke(look) }));
      if (look.marker) svg.append(dots(look, [[17, 8.5]]));
    }
    box.replaceChildren(svg);
  }
  return { panel, sample };
})();
