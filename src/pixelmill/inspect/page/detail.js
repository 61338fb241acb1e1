// One sample enlarged, with everything that is known about it.

const detail = find("detail");
let opened = 0;

function factRows(sample) {
  const range = (values) => values.map((value) => value.toFixed(0)).join(", ");
  const measures = sample.measures;
  return [
    ["Class", sample.className],
    ["Split", data.splits[sample.split]],
    ["Size", sample.pixels ? `${sample.height} x ${sample.width} (height x width)` : ""],
    ["File", sample.bytes ? size(sample.bytes) : ""],
    ["Values", sample.cells[0].note],
    ["Brightness", measures ? `${measures[0].toFixed(1)} of 255` : ""],
    ["Contrast", measures ? measures[1].toFixed(1) : ""],
    ["Sharpness", measures ? measures[2].toFixed(1) : ""],
    ["Channel means", measures ? range(measures.slice(4, 7)) : ""],
    ["Boxes", sample.boxes ? boxSummary(sample) : ""],
    ["Mask classes", sample.mask.join(", ")],
    ["Name", sample.key],
  ].filter(([, text]) => text);
}

function boxSummary(sample) {
  const counts = new Map();
  for (const box of sample.cells[0].boxes ?? []) {
    const name = data.boxNames[box[4]];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const listed = [...counts].map(([name, count]) => `${name || "box"}${count > 1 ? ` × ${count}` : ""}`);
  const drawn = (sample.cells[0].boxes ?? []).length;
  return `${sample.boxes} (${listed.join(", ")})${drawn < sample.boxes ? `; the first ${drawn} are drawn` : ""}`;
}

function twins(sample) {
  const others = data.samples.filter((other) => other.duplicate === sample.duplicate && other !== sample);
  const images = others.slice(0, 12).map((other) => make("button", {
    type: "button", class: "twin", "aria-label": describe(other), onclick: () => openSample(other),
  }, frame(other.cells[0], 84, 64, ""), make("span", { text: `#${other.number}` })));
  const all = make("button", {
    type: "button", class: "link", text: `Show all ${others.length + 1}`,
    onclick: () => { detail.close(); apply({ ...EMPTY, group: sample.duplicate }); },
  });
  return make("section", {}, make("h3", { text: "Looks like" }), make("div", { class: "twins" }, ...images), all);
}

function fillDetail() {
  const sample = shown[opened];
  find("detail-title").textContent = sample.cells[0].first;
  find("detail-place").textContent = `${(opened + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}`;
  find("previous").disabled = opened === 0;
  find("next").disabled = opened === shown.length - 1;
  const facts = find("detail-facts");
  const list = make("dl", {}, ...factRows(sample).flatMap(([name, text]) => [make("dt", { text: name }), make("dd", { text })]));
  const problems = sample.cells.filter((cell) => cell.problem).map((cell) => (
    make("p", { class: "problem" }, make("b", { text: cell.problem[0] }), ` ${cell.problem[1]}`)
  ));
  facts.replaceChildren(...problems, list, ...(sample.duplicate ? [twins(sample)] : []));
  fillImages(sample);
}

function fillImages(sample) {
  const room = find("detail-images");
  room.replaceChildren();
  const count = sample.cells.length;
  const width = room.clientWidth;
  const caption = count > 1 ? 24 : 0;
  const high = Math.max(innerWidth < 800 ? innerHeight * 0.55 : room.clientHeight, 160);
  // The number of columns that leaves the images largest.
  const sides = Array.from({ length: count }, (_, place) => {
    const columns = place + 1;
    const [wide, tall] = [(width - 8 * (columns - 1)) / columns, high / Math.ceil(count / columns) - caption - 8];
    return { wide, tall, image: Math.min(wide, tall * data.ratio) };
  });
  const best = sides.reduce((one, other) => (other.image > one.image ? other : one));
  const shapes = sample.cells.filter((cell) => cell.image).map((cell) => cell.height / cell.width);
  const [wide, tall] = [best.wide, Math.max(Math.min(best.tall, best.wide * Math.max(...shapes, 0.3)), 80)];
  for (const cell of sample.cells) {
    const text = count > 1 ? [make("figcaption", { text: cell === sample.cells[0] ? `original ${cell.extent}` : `${cell.first} ${cell.extent}` })] : [];
    room.append(make("figure", {}, frame(cell, wide, tall, describe(sample)), ...text));
  }
}

function openDetail(place) {
  opened = place;
  if (!detail.open) detail.showModal();
  fillDetail();
  find("close").focus({ preventScroll: true });
}

function openSample(sample) {
  const place = shown.indexOf(sample);
  if (place < 0) apply({ ...EMPTY, group: sample.duplicate });
  openDetail(Math.max(shown.indexOf(sample), 0));
}

function step(by) {
  const next = opened + by;
  if (next < 0 || next >= shown.length) return;
  opened = next;
  fillDetail();
}

find("previous").addEventListener("click", () => step(-1));
find("next").addEventListener("click", () => step(1));
find("close").addEventListener("click", () => detail.close());
detail.addEventListener("close", () => focusSample(opened));
detail.addEventListener("click", (event) => { if (event.target === detail) detail.close(); });

let touched = null;
detail.addEventListener("touchstart", (event) => { touched = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
detail.addEventListener("touchend", (event) => {
  const last = event.changedTouches[0];
  if (!touched || !find("detail-images").contains(event.target)) return;
  const [across, down] = [last.clientX - touched.clientX, last.clientY - touched.clientY];
  if (Math.abs(across) > 60 && Math.abs(across) > 2 * Math.abs(down)) step(across < 0 ? 1 : -1);
});
