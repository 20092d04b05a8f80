// The minimal set with other choices: a menu in every place that has some, and what is known of it.
(() => {
  const button = document.getElementById("copy-set");
  if (!button) return;
  const known = document.getElementById("known");
  const found = JSON.parse(document.getElementById("evidence").textContent).signatures;
  const members = () => [...document.querySelectorAll(".places .name")].map((name) => name.textContent);
  const menus = [];

  const columnsOf = (menu) => found.slots[menu.dataset.slot][menu.value][0];
  const nameOf = (columns) => columns.map((j) => found.columns[j][0]).join(" + ");
  const percent = (value) => `${value.toFixed(1)}%`;

  function chosen() {
    if (!found) return members();
    const columns = new Set([...found.fixed, ...menus.flatMap(columnsOf)]);
    return [...columns].sort((a, b) => a - b).map((j) => found.columns[j][0]);
  }

  // Each exchange was tested by itself; what several cost together is expected, and was checked at random.
  function explain() {
    const swapped = menus.filter((menu) => menu.value !== "0");
    const n = chosen().length;
    button.textContent = n > 1 ? `Copy these ${n.toLocaleString("en")} names` : "Copy this name";
    if (!swapped.length) return "";
    const tested = swapped.map((menu) => found.slots[menu.dataset.slot][menu.value]);
    const sum = tested.reduce((total, [, growth]) => total + growth, 0);
    const loses = sum > 0.05 ? `loses ${percent(sum)} of the gain` : "loses nothing";
    if (swapped.length === 1) {
      const [columns, , high] = tested[0];
      const own = found.slots[swapped[0].dataset.slot][0][0];
      return `With ${nameOf(columns)} for ${nameOf(own)} the set ${loses}, and ${percent(Math.max(high, 0))} at most (tested, with an error of ${found.error}%).`;
    }
    const [drawn, good] = found.checked;
    const which = found.all_checked ? `All ${drawn} sets were fitted anew` : `Of all sets ${drawn} were drawn at random and fitted anew`;
    const checked = drawn ? ` ${which}: ${good} lost no more than ${percent(found.margin)}.` : "";
    return `With these ${swapped.length} exchanges the set is expected to ${loses.replace("loses", "lose")}: what each of them loses, added up.${checked}`;
  }

  function element(name, properties, ...children) {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  }

  // What the columns in a place are worth, as the page shows it of those it came with.
  function worthOf(columns) {
    return columns.map((j) => {
      const [name, worth, start, width] = found.columns[j];
      const range = element("i", { className: "range weak" });
      range.style.setProperty("--s", `${start}%`);
      range.style.setProperty("--w", `${width}%`);
      const label = columns.length > 1 ? [element("small", {}, element("bdi", { textContent: name }))] : [];
      return element("div", {}, ...label, worth, ...(width ? [range] : []));
    });
  }

  function addMenu(row) {
    const choices = found.slots[row.dataset.slot];
    const options = choices.map(([columns], k) => element("option", { value: String(k), textContent: nameOf(columns) }));
    const menu = element("select", {}, ...options);
    menu.dataset.slot = row.dataset.slot;
    menu.setAttribute("aria-label", `Who takes the place of ${nameOf(choices[0][0])}`);
    const others = row.cells[2];
    const told = [...others.childNodes];
    menu.addEventListener("change", () => {
      row.classList.toggle("swapped", menu.value !== "0");
      others.replaceChildren(...(menu.value === "0" ? told : [`in place of ${nameOf(choices[0][0])}`]));
      row.cells[1].replaceChildren(...worthOf(columnsOf(menu)));
      known.textContent = explain();
    });
    row.querySelector(".who").replaceChildren(menu);
    menus.push(menu);
  }

  if (found) for (const row of document.querySelectorAll(".places [data-slot]")) addMenu(row);

  button.addEventListener("click", async () => {
    const names = chosen();
    await copyText(names.join("\n"));
    known.textContent = `${names.length.toLocaleString("en")} ${names.length > 1 ? "names" : "name"} copied. ${explain()}`;
  });
})();
