// The grid of samples: only rows near the visible part of the page exist.

const GAP = 12;
const INNER = 4; // between the variants of a sample
const CAPTION = 40;
const VARIANT_CAPTION = 18;
const AROUND = 600; // pixels above and below the window for which cells are made ahead

const grid = find("grid");
const items = new Map(); // elements by place in `shown`
let shown = [];
let current = 0;
let layout = null;
let zoom = Math.min(data.size, 512);

function arrange() {
  const width = grid.clientWidth;
  const length = data.groupLength;
  const most = Math.min(length, Math.max(1, Math.floor((width + INNER) / (Math.min(zoom, 150) + INNER))));
  const lines = Math.ceil(length / most);
  const across = Math.ceil(length / lines);
  const wanted = across * zoom + (across - 1) * INNER;
  const columns = Math.max(1, Math.min(Math.floor((width + GAP) / (wanted + GAP)), Math.max(shown.length, 1)), width < 560 && length === 1 && zoom <= 240 ? 2 : 1);
  const item = Math.min((width - GAP * (columns - 1)) / columns, wanted * 1.4);
  const frameWidth = (item - (across - 1) * INNER) / across;
  const frameHeight = frameWidth / data.ratio;
  const caption = data.labels ? CAPTION : 0;
  const each = frameHeight + (length > 1 && data.labels ? VARIANT_CAPTION : 0);
  const high = lines * each + (lines - 1) * INNER + caption + GAP;
  layout = { columns, item, frameWidth, frameHeight, high, width };
  grid.style.height = `${Math.max(Math.ceil(shown.length / columns) * high - GAP, 0)}px`;
}

function captionOf(sample, cell) {
  const extent = make("span", { class: "extent", text: cell.extent });
  return make("span", { class: "caption" }, make("b", { text: cell.first }), extent, make("span", { class: "name", text: cell.second }));
}

function itemElement(place) {
  const sample = shown[place];
  const several = data.groupLength > 1;
  const frames = sample.cells.map((cell, number) => {
    const isWide = several && !cell.image && !number;
    const width = isWide ? layout.item : layout.frameWidth;
    const picture = frame(cell, width, layout.frameHeight, "");
    const text = several && data.labels ? [make("span", { class: "variant", text: number ? cell.first : "original" })] : [];
    return make("span", { class: "of" }, picture, ...text);
  });
  const button = make("button", {
    type: "button", class: "sample", "aria-label": describe(sample), tabindex: place === current ? "0" : "-1",
    onclick: () => { current = place; openDetail(place); },
    onfocus: () => { current = place; },
  }, make("span", { class: "frames" }, ...frames), ...(data.labels ? [captionOf(sample, sample.cells[0])] : []));
  return make("div", { role: "listitem", class: "item", "aria-setsize": shown.length, "aria-posinset": place + 1, "data-number": sample.number }, button);
}

function put(place) {
  let element = items.get(place);
  if (!element) {
    element = itemElement(place);
    items.set(place, element);
    grid.append(element);
  }
  const [row, column] = [Math.floor(place / layout.columns), place % layout.columns];
  element.style.transform = `translate(${column * (layout.item + GAP)}px, ${row * layout.high}px)`;
  element.style.width = `${layout.item}px`;
}

function render() {
  if (!layout) return;
  const top = -grid.getBoundingClientRect().top;
  const first = Math.max(Math.floor((top - AROUND) / layout.high), 0) * layout.columns;
  const last = Math.min(Math.ceil((top + innerHeight + AROUND) / layout.high) * layout.columns, shown.length);
  const isFocused = grid.contains(document.activeElement);
  for (const [place, element] of items) {
    if ((place < first || place >= last) && !(isFocused && place === current)) {
      element.remove();
      items.delete(place);
    }
  }
  for (let place = first; place < last; place++) put(place);
  if (!items.has(current) && last > first) grid.querySelector(".sample")?.setAttribute("tabindex", "0");
}

function rebuild() {
  for (const element of items.values()) element.remove();
  items.clear();
  arrange();
  render();
}

let isScheduled = false;
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; render(); });
}

// Shows the samples in this order, from the beginning.
function showSamples(samples) {
  shown = samples;
  current = 0;
  if (scrollY > grid.getBoundingClientRect().top + scrollY) scrollTo({ top: 0 });
  rebuild();
  find("nothing").hidden = shown.length > 0;
}

// Returns the first sample whose row is in view.
function firstInView() {
  const hidden = find("bar").getBoundingClientRect().bottom - grid.getBoundingClientRect().top;
  const row = Math.max(Math.ceil((hidden - GAP) / layout.high), 0);
  return Math.min(row * layout.columns, shown.length - 1);
}

// Moves the focus to a sample and brings it into view.
function focusSample(place) {
  if (!shown.length) return;
  items.get(current)?.firstChild.setAttribute("tabindex", "-1");
  current = Math.max(0, Math.min(place, shown.length - 1));
  const from = grid.getBoundingClientRect().top + scrollY + Math.floor(current / layout.columns) * layout.high;
  const hidden = find("bar").getBoundingClientRect().bottom + 8;
  if (from - scrollY < hidden) scrollTo({ top: from - hidden });
  else if (from + layout.high - scrollY > innerHeight) scrollTo({ top: from + layout.high - innerHeight });
  put(current);
  render();
  const button = items.get(current).firstChild;
  button.setAttribute("tabindex", "0");
  button.focus({ preventScroll: true });
}
