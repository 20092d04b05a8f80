"use strict";
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

(() => {
  const table = document.getElementById("table");
  const bodies = [...table.tBodies];
  const evidence = JSON.parse(document.getElementById("evidence").textContent);
  const status = document.getElementById("status");
  const rank = { strong: 0, weak: 1, irrelevant: 2 };

  const nameOf = (body) => body.querySelector("bdi").textContent;
  const shown = () => [...table.tBodies].filter((body) => !body.hidden);
  const say = (text) => { status.textContent = text; };

  // Sorting: every head becomes a button; what is empty stays at the end.
  function keyOf(body, column, kind) {
    const cell = body.rows[0].cells[column];
    if (kind === "class") return rank[body.className.split(" ")[0]];
    if (kind === "text") return cell.textContent.toLowerCase() || null;
    const value = parseFloat(cell.dataset.v ?? cell.textContent.replace(/[^\d.eE+-]/g, ""));
    return Number.isNaN(value) ? null : value;
  }

  function sortBy(head, column) {
    // Where much is of interest, a first click sorts from the most to the least.
    const now = head.getAttribute("aria-sort");
    const down = now === "none" ? head.dataset.first === "down" : now === "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = [...table.tBodies].map((body, i) => [keyOf(body, column, head.dataset.kind), i, body]);
    keyed.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
      return (down ? -order : order) || i - j;
    });
    table.append(...keyed.map(([, , body]) => body));
  }

  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sortBy(head, column));
  }

  // Filtering by text and class.
  const search = document.getElementById("search");
  const boxes = [...document.querySelectorAll("input[name=class]")];
  const only = document.getElementById("only-minimal");

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const classes = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const body of bodies) {
      const text = body.rows[0].textContent.toLowerCase();
      const wanted = classes.has(body.className.split(" ")[0]) && (!only?.checked || body.classList.contains("minimal"));
      body.hidden = !wanted || !words.every((w) => text.includes(w));
    }
    say(`${shown().length} of ${bodies.length} shown`);
  }
  search.addEventListener("input", filter);
  for (const box of [...boxes, ...(only ? [only] : [])]) box.addEventListener("change", filter);

  // Names of what is shown, for the clipboard or a file.
  async function copy() {
    const names = shown().map(nameOf);
    await copyText(names.join("\n"));
    say(`${names.length} names copied`);
  }
  document.getElementById("copy").addEventListener("click", copy);

  document.getElementById("download").addEventListener("click", () => {
    // A spreadsheet would compute what begins like a formula; behind an apostrophe it does not.
    const plain = (text) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);
    const quoted = (text) => `"${plain(text).replaceAll('"', '""')}"`;
    const lines = shown().map((body) => `${quoted(nameOf(body))},${body.className.split(" ")[0]}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([["feature,class", ...lines, ""].join("\n")], { type: "text/csv" }));
    link.download = "columns.csv";
    link.click();
    URL.revokeObjectURL(link.href);
    say(`${lines.length} names written`);
  });

  // Evidence on demand.
  const WIDTH = 340, LEFT = 60, RIGHT = 10;

  function svg(name, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function chart(caption, label, low, high, draw) {
    const pad = (high - low || 1) * 0.05;
    const at = (v) => LEFT + ((v - low + pad) / (high - low + 2 * pad || 1)) * (WIDTH - LEFT - RIGHT);
    const short = (v) => String(Number(v.toPrecision(2)));
    const figure = document.createElement("figure");
    const picture = svg("svg", { width: WIDTH, height: 90, viewBox: `0 0 ${WIDTH} 90`, role: "img", "aria-label": label });
    picture.append(...draw(at));
    picture.append(
      svg("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: 68, y2: 68 }),
      svg("text", { x: at(low), y: 84, "text-anchor": "middle" }, short(low)),
      svg("text", { x: at(high), y: 84, "text-anchor": "end" }, short(high)),
    );
    const words = document.createElement("figcaption");
    words.textContent = caption;
    figure.append(picture, words);
    return figure;
  }

  function box(at, y, five, kind) {
    const [least, lower, middle, upper, most] = five.map(at);
    return [
      svg("line", { class: "axis", x1: least, x2: most, y1: y, y2: y }),
      svg("rect", { class: kind, x: lower, width: Math.max(upper - lower, 2), y: y - 7, height: 14, "fill-opacity": 0.5 }),
      svg("line", { class: "mark", x1: middle, x2: middle, y1: y - 7, y2: y + 7 }),
    ];
  }

  function importanceChart(real, kind) {
    const high = Math.max(real[4], evidence.shadow[4], evidence.threshold ?? 0);
    const label = `Importance ${real[2]} in the median; permuted columns ${evidence.shadow[2]}`;
    return chart("Importance in every round, against permuted columns (grey: what they reach by luck)", label, 0, high, (at) => [
      ...(evidence.threshold === null ? [] : [svg("rect", { class: "band", x: at(0), width: at(evidence.threshold) - at(0), y: 4, height: 60 })]),
      svg("text", { x: 0, y: 24 }, "column"),
      svg("text", { x: 0, y: 52 }, "permuted"),
      ...box(at, 20, real, kind),
      ...box(at, 48, evidence.shadow, "irrelevant"),
    ]);
  }

  function removalChart([loss, low = loss, high = loss], kind) {
    const [from, to] = evidence.null;
    const least = Math.min(low, from ?? loss), most = Math.max(high, to ?? loss);
    const label = `Removal costs ${loss}, interval ${low} to ${high}; ${from} to ${to} is no cost`;
    return chart((evidence.interval ? "Cost of its removal, with 95% interval (grey: too little to matter)" : "Loss without it (grey: expected if nothing of importance is removed)"), label, least, most, (at) => [
      ...(from === null ? [] : [svg("rect", { class: "band", x: at(from), width: Math.max(at(to) - at(from), 1), y: 4, height: 60 })]),
      ...(least < 0 && most > 0 ? [svg("line", { class: "axis", x1: at(0), x2: at(0), y1: 4, y2: 68 }), ...(at(0) - at(least) > 30 && at(most) - at(0) > 50 ? [svg("text", { x: at(0), y: 84, "text-anchor": "middle" }, "0")] : [])] : []),
      svg("line", { class: "mark", x1: at(low), x2: at(high), y1: 34, y2: 34, "stroke-width": 2 }),
      svg("circle", { class: kind, cx: at(loss), cy: 34, r: 6 }),
    ]);
  }

  // In a long table the explanations of later columns are packed, and unpacked together.
  const nExplained = bodies.filter((body) => body.rows.length > 1).length;
  let unpacked = null;
  async function unpack() {
    const text = document.getElementById("packed").textContent;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  async function explanation(body, i) {
    if (body.rows.length === 1) {
      unpacked ??= unpack();
      const text = (await unpacked)[i - nExplained];
      if (body.rows.length > 1) return body.rows[1].querySelector("div");
      const cell = document.createElement("div"), row = body.insertRow();
      cell.textContent = text;
      row.className = "why";
      const wide = row.insertCell();
      wide.colSpan = table.tHead.rows[0].cells.length;
      wide.append(cell);
    }
    return body.rows[1].querySelector("div");
  }

  function draw(body, cell, i) {
    const kind = body.className.split(" ")[0];
    const figures = document.createElement("div");
    figures.className = "figures";
    if (evidence.real[i] && evidence.shadow) figures.append(importanceChart(evidence.real[i], kind));
    if (evidence.removal[i][0] !== null) figures.append(removalChart(evidence.removal[i], kind));
    cell.append(figures);
  }

  for (const [i, body] of bodies.entries()) {
    const name = body.querySelector("bdi");
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    name.replaceWith(button);
    button.append(name);
    button.addEventListener("click", async () => {
      const cell = await explanation(body, i);
      if (!body.querySelector(".figures")) draw(body, cell, i);
      button.setAttribute("aria-expanded", String(body.classList.toggle("open")));
    });
  }

  // Light or dark: as the system says, until somebody chooses.
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = getComputedStyle(root).colorScheme === "dark"
      || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
  });

  filter();
})();
