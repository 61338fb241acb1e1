// Filters, sorting, toggles and the keyboard.

const search = find("search");

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => make("option", { value, text })));
}

function fillControls() {
  const names = data.classes.map((name, number) => [number, name || "none"]).sort((one, other) => new Intl.Collator("en", { numeric: true }).compare(one[1], other[1]));
  options(find("class"), [[-1, "all"], ...names]);
  options(find("split"), [[-1, "all"], ...data.splits.map((name, number) => [number, name || "none"])]);
  const offered = [...SHOWN, ...ISSUES].filter(([name, , condition]) => name === "all" || data.samples.some(condition));
  const isTrivial = ([name, , condition]) => name !== "all" && (name === "sound" || name === "bare") && data.samples.every(condition);
  options(find("show"), offered.filter((entry) => !isTrivial(entry)));
  const differs = (field) => field === "place" || data.samples.some((sample) => sample[field] !== data.samples[0][field]);
  options(find("sort"), Object.entries(FIELDS).filter(([field]) => differs(field)));
  const cells = data.samples.flatMap((sample) => sample.cells);
  const isUseful = {
    class: data.classes.length > 1, split: data.splits.length > 1, show: find("show").length > 1, sort: find("sort").length > 1,
    boxes: cells.some((cell) => cell.boxes), masks: cells.some((cell) => cell.mask),
  };
  for (const [name, useful] of Object.entries(isUseful)) find(name).closest("label").hidden = !useful;
  find("direction").hidden = !isUseful.sort;
  find("zoom").value = zoom;
}

function chips() {
  const found = [
    state.search && [`“${state.search}”`, { search: "" }],
    state.class >= 0 && [`class ${data.classes[state.class] || "none"}`, { class: -1 }],
    state.split >= 0 && [`split ${data.splits[state.split]}`, { split: -1 }],
    state.box >= 0 && [`with box ${data.boxNames[state.box] || "none"}`, { box: -1 }],
    state.show !== "all" && [[...SHOWN, ...ISSUES].find(([name]) => name === state.show)[1].toLowerCase(), { show: "all" }],
    state.range && [state.range.text, { range: null }],
    state.group && ["look alike", { group: 0 }],
  ].filter(Boolean);
  const buttons = found.map(([text, change]) => make("button", {
    type: "button", class: "chip", "aria-label": `Remove filter: ${text}`, onclick: () => apply(change),
  }, make("span", { text }), make("span", { text: "×", "aria-hidden": "true" })));
  if (buttons.length > 1) buttons.push(make("button", { type: "button", class: "link", text: "Clear all", onclick: () => apply(EMPTY) }));
  find("chips").replaceChildren(...buttons);
}

// Changes what is shown, and how; the controls follow.
function apply(change) {
  Object.assign(state, change);
  if (search.value !== state.search) search.value = state.search;
  for (const name of ["class", "split", "show", "sort"]) find(name).value = String(state[name]);
  find("direction").setAttribute("aria-pressed", String(state.descending));
  find("direction").textContent = state.descending ? "↑" : "↓";
  showSamples(sorted(matching()));
  find("count").textContent = shown.length === total ? plural(total, "sample") : `${shown.length.toLocaleString("en")} of ${plural(total, "sample")}`;
  chips();
  fillStatistics();
}

function showStatistics(isShown) {
  panel.hidden = !isShown;
  document.body.classList.toggle("with-statistics", isShown);
  find("show-statistics").setAttribute("aria-expanded", String(isShown));
  fillStatistics();
  rebuild();
}

function setZoom(value) {
  zoom = Math.max(64, Math.min(value, 512));
  find("zoom").value = zoom;
  rebuild();
}

function toggle(name) {
  const box = find(name);
  if (box.closest("label").hidden) return;
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change"));
}

let isTyping = 0;
search.addEventListener("input", () => {
  clearTimeout(isTyping);
  isTyping = setTimeout(() => apply({ search: search.value }), 80);
});
find("bar").addEventListener("submit", (event) => { event.preventDefault(); apply({ search: search.value }); focusSample(0); });
for (const name of ["class", "split"]) find(name).addEventListener("change", (event) => apply({ [name]: Number(event.target.value), group: 0 }));
find("show").addEventListener("change", (event) => apply({ show: event.target.value, group: 0 }));
find("sort").addEventListener("change", (event) => apply({ sort: event.target.value }));
find("direction").addEventListener("click", () => apply({ descending: !state.descending }));
find("clear").addEventListener("click", () => apply(EMPTY));
find("zoom").addEventListener("input", (event) => setZoom(Number(event.target.value)));
for (const name of ["boxes", "masks"]) {
  find(name).addEventListener("change", (event) => document.body.classList.toggle(`no-${name}`, !event.target.checked));
}
find("show-statistics").addEventListener("click", () => showStatistics(panel.hidden));
find("show-help").addEventListener("click", () => find("help").showModal());
find("close-help").addEventListener("click", () => find("help").close());

const MOVES = {
  ArrowLeft: () => current - 1, ArrowRight: () => current + 1,
  ArrowUp: () => current - layout.columns, ArrowDown: () => Math.min(current + layout.columns, Math.max(current, shown.length - 1)),
  Home: () => 0, End: () => shown.length - 1,
  PageUp: () => current - layout.columns * Math.max(Math.floor(innerHeight / layout.high) - 1, 1),
  PageDown: () => current + layout.columns * Math.max(Math.floor(innerHeight / layout.high) - 1, 1),
};
const KEYS = {
  "/": () => { search.focus(); search.select(); },
  b: () => toggle("boxes"), m: () => toggle("masks"), s: () => showStatistics(panel.hidden),
  "+": () => setZoom(zoom + 32), "-": () => setZoom(zoom - 32), "?": () => find("help").showModal(),
};

function whileOpen(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) { event.preventDefault(); step(by); }
  if (event.key === "b") toggle("boxes");
  if (event.key === "m") toggle("masks");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
  if (detail.open) { whileOpen(event); return; }
  const at = document.activeElement;
  if (at === search) {
    if (event.key === "Escape") { event.preventDefault(); apply({ search: "" }); focusSample(0); }
    if (event.key === "ArrowDown") { event.preventDefault(); focusSample(0); }
    return;
  }
  if (at.matches("select, input[type=range]")) return;
  if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); return; }
  const isInGrid = grid.contains(at);
  if (MOVES[event.key] && shown.length && (isInGrid || at === document.body || at === find("samples"))) {
    event.preventDefault();
    focusSample(isInGrid || event.key === "Home" || event.key === "End" ? MOVES[event.key]() : firstInView());
  }
  if (event.key === "Escape" && chipsShown()) apply(EMPTY);
});

const chipsShown = () => find("chips").childElementCount > 0;

function legend() {
  if (!data.labels) return;
  const kinds = [["Boxes", data.legend[0]], ["Masks", data.legend[1]]].filter(([, entries]) => entries.length);
  find("legend").replaceChildren(...kinds.map(([title, entries]) => make("section", {},
    make("h2", { text: title }),
    make("ul", {}, ...entries.map(([color, text]) => make("li", {}, make("i", { style: { background: color } }), text))))));
}

addEventListener("scroll", schedule, { passive: true });
new ResizeObserver(() => {
  if (layout && grid.clientWidth !== layout.width) rebuild();
  if (detail.open) fillImages(shown[opened]);
}).observe(grid);
addEventListener("resize", () => { schedule(); if (detail.open) fillImages(shown[opened]); });

fillControls();
legend();
panel.hidden = innerWidth < 1000 || total < 2;
document.body.classList.toggle("with-statistics", !panel.hidden);
find("show-statistics").setAttribute("aria-expanded", String(!panel.hidden));
apply({});
