"use strict";
// Everything can be read without this: it sorts tables, shortens long ones until they are asked for, and
// chooses the class whose shapes are shown.
document.documentElement.classList.add("scripted");

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  let limit = Number(table.dataset.limit ?? Infinity);
  const shorten = () => [...body.rows].forEach((row, place) => row.classList.toggle("later", place >= limit));
  if (body.rows.length > limit) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more-rows";
    button.textContent = `Show all ${body.rows.length} rows`;
    button.addEventListener("click", () => {
      limit = Infinity;
      shorten();
      button.remove();
    });
    table.parentNode.after(button);
    shorten();
  }
  table.tHead.rows[0].querySelectorAll("th").forEach((head, column) => {
    if (head.textContent === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const isNumber = body.rows.length > 0 && body.rows[0].cells[column].dataset.value !== undefined;
      const compare = (a, b) => isNumber ? key(a) - key(b)
        : key(a).localeCompare(key(b), undefined, { numeric: true });
      const rows = [...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b));
      body.append(...rows);
      shorten();
    });
  });
}

// In the frame of a notebook, a link to a place of the page would load the notebook into the frame.
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById(link.getAttribute("href").slice(1)).scrollIntoView();
  });
}

const choice = document.getElementById("class-choice");
if (choice !== null) {
  const lines = [...document.querySelectorAll(".of-class")];
  const isHidden = new Map(lines.map((line) => [line, line.classList.contains("hidden")]));
  choice.addEventListener("change", () => {
    for (const line of lines) {
      const hide = choice.value === "" ? isHidden.get(line) : !line.classList.contains("c" + choice.value);
      line.classList.toggle("hidden", hide);
    }
  });
}
