(() => {
  const tables = [...document.querySelectorAll("table.filtered")];
  const heads = (table) => [...table.tHead.rows[0].cells];
  for (const table of tables) {
    heads(table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads(table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => {
          const cell = row.cells[column];
          return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
        };
        const compare = (a, b) => {
          const [one, other] = [value(a), value(b)];
          if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
          const order = typeof one === "number" ? one - other : one.localeCompare(other);
          return down ? -order : order;
        };
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(compare));
      });
    });
  }
  const all = tables.flatMap(heads);
  const bar = document.createElement("form");
  bar.className = "filters";
  bar.setAttribute("aria-label", "Show in the tables");
  const choice = (name, title, word) => {
    const values = [...new Set(all.map((head) => head.dataset[name]).filter(Boolean))];
    if (values.length < 2) return;
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.name = name;
    select.add(new Option("all", ""));
    values.forEach((value) => select.add(new Option(word(value), value)));
    label.append(title + " ", select);
    bar.append(label);
  };
  choice("threads", "threads", (value) => value);
  choice("state", "decisions", (value) => value);
  choice("keys", "keys", (value) => value);
  const label = document.createElement("label");
  const exact = document.createElement("input");
  exact.type = "checkbox";
  label.append(exact, " exact only");
  bar.append(label);
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.addEventListener("change", () => {
    const wanted = [...bar.querySelectorAll("select")];
    for (const table of tables) {
      const shown = heads(table).map((head) =>
        wanted.every(({ name, value }) => !value || !head.dataset[name] || head.dataset[name] === value));
      for (const row of table.rows) {
        [...row.cells].forEach((cell, column) => (cell.hidden = !shown[column]));
        row.hidden = exact.checked && row.dataset.exact === "false";
      }
    }
  });
  const first = tables[0]?.closest("figure");
  if (first) first.before(bar);
})();
