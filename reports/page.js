// Steps through the run: shows how everything stood after a step, and marks the
// step in the picture and in the story. Without it the page shows the violation.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const key = (row) => row.t * 1e6 + row.n;
let now = data.place;
let only = 0; // the client whose doings are shown; 0: all

// standing returns the rows after a step, and which of them the step has changed
// or ended.
function standing(step) {
  const rows = new Map(data.base.map((row) => [key(row), row]));
  const changed = new Set();
  for (let s = data.first; s <= step; s++) {
    for (const row of data.steps[s - data.first]) {
      const old = rows.get(key(row));
      if (s === step) changed.add(key(row));
      if (row.v) rows.set(key(row), row);
      else if (s === step) rows.set(key(row), { ...old, gone: true });
      else rows.delete(key(row));
    }
  }
  return { rows: [...rows.values()].sort((a, b) => key(a) - key(b)), changed };
}

function cell(text) {
  const td = document.createElement("td");
  td.textContent = text;
  return td;
}

function showTables() {
  const { rows, changed } = standing(now);
  for (const table of document.querySelectorAll("#state table")) {
    const list = rows.filter((row) => table.id === "table" + row.t).map((row) => {
      const tr = document.createElement("tr");
      tr.dataset.c = row.c || 0;
      tr.className = row.gone ? "gone" : changed.has(key(row)) ? "new" : "";
      tr.append(...row.v.map(cell));
      return tr;
    });
    if (list.length === 0) {
      const tr = document.createElement("tr");
      tr.className = "none";
      tr.append(cell("none"));
      list.push(tr);
    }
    table.tBodies[0].replaceChildren(...list);
  }
}

function showPlace() {
  const cursor = byId("cursor");
  const width = cursor.width.baseVal.value;
  const x = Number(document.querySelector(".lanes").dataset.left) + (now - data.first) * width;
  cursor.setAttribute("x", x);
  const box = document.querySelector(".scroll");
  if (x < box.scrollLeft + width || x > box.scrollLeft + box.clientWidth - 3 * width) box.scrollLeft = x - box.clientWidth / 2;
  document.querySelector("li.now")?.classList.remove("now");
  const li = byId("s" + now);
  li.classList.add("now");
  const list = li.parentElement;
  if (list.scrollHeight > list.clientHeight) list.scrollTop = li.offsetTop - list.offsetTop - list.clientHeight / 2;
}

// go shows a step, and makes the address lead to it.
function go(step) {
  show(step);
  history.replaceState(null, "", "#s" + now);
}

function show(step) {
  now = Math.min(data.last, Math.max(data.first, step));
  const i = now - data.first;
  byId("slider").value = now;
  byId("now").textContent = `step ${now}: ${data.names[i]}` + (data.times[i] ? `, at ${data.times[i]}` : "");
  if (byId("when")) byId("when").textContent = `after step ${now}` + (now === data.place ? ", the violation" : "");
  showTables();
  showPlace();
  filter();
}

// filter leaves what concerns the chosen client, or nobody in particular.
function filter() {
  for (const e of document.querySelectorAll("[data-c]")) {
    e.classList.toggle("other", only > 0 && Number(e.dataset.c) !== only && Number(e.dataset.c) !== 0);
  }
  for (const li of document.querySelectorAll("#story li")) {
    li.classList.toggle("other", li.querySelector("p") !== null && li.querySelector("p:not(.other)") === null);
  }
}

// choose leaves only the doings of a client, by its button.
function choose(button) {
  if (!button.dataset.only) return;
  only = Number(button.dataset.only);
  for (const b of byId("filter").children) b.setAttribute("aria-pressed", b === button);
  filter();
}

// fromAddress returns the step that the address leads to.
function fromAddress() {
  const m = /^#s(\d+)$/.exec(location.hash);
  return m ? Number(m[1]) : data.place;
}

const keys = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };

// start makes the page alive.
function start() {
  document.documentElement.classList.add("js");
  document.querySelector(".scroll").dir = "ltr";
  byId("back").onclick = () => go(now - 1);
  byId("forward").onclick = () => go(now + 1);
  byId("error").onclick = () => go(data.place);
  byId("slider").oninput = (e) => go(Number(e.target.value));
  byId("filter").onclick = (e) => choose(e.target);
  document.onclick = (e) => {
    const place = e.target.closest(".lanes g[data-s], #story li");
    if (place && Number(place.dataset.s) >= data.first) go(Number(place.dataset.s));
  };
  document.onkeydown = (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("input") && e.key.startsWith("Arrow")) return;
    if (e.key === "e") go(data.place);
    else if (keys[e.key]) go(now + keys[e.key]);
    else return;
    e.preventDefault();
  };
  window.onhashchange = () => show(fromAddress());
  show(fromAddress());
}

if (data.steps.length > 0) start();
