// Statistics of the samples that match, before those of all samples.

const panel = find("statistics");
const total = data.samples.length;
const quantile = (values, part) => values[Math.min(Math.floor(part * values.length), values.length - 1)];

function section(title, ...children) {
  return make("section", {}, make("h2", { text: title }), ...children);
}

// Horizontal bars: name, number among those that match, number among all, what a click does.
function bars(rows) {
  const most = Math.max(...rows.map((row) => row.all), 1);
  return make("div", { class: "bars" }, ...rows.map((row) => make("button", {
    type: "button", class: "row", "aria-pressed": row.active ? "true" : "false",
    "aria-label": `${row.name || "none"}: ${row.count} of ${row.all}`, onclick: row.choose,
  },
  make("span", { class: "of-name", text: row.name || "none" }),
  make("span", { class: "length", "aria-hidden": "true" },
    make("i", { class: "all", style: { width: `${100 * row.all / most}%` } }),
    make("i", { class: "part", style: { width: `${100 * row.count / most}%`, ...(row.color ? { background: row.color } : {}) } })),
  make("span", { class: "number", text: row.count.toLocaleString("en") }))));
}

const COLUMNS = 16;

function edgesOf(values) {
  const [low, high] = [values[0], values[values.length - 1]];
  const raw = (high - low) / COLUMNS;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const width = [1, 2, 5, 10].map((factor) => factor * unit).find((candidate) => candidate >= raw);
  const first = Math.floor(low / width);
  const count = Math.floor(high / width) - first + 1;
  return Array.from({ length: count + 1 }, (_, place) => Number(((first + place) * width).toPrecision(12)));
}

function histogram(field, title, format) {
  const values = data.samples.map((sample) => sample[field]).filter((value) => value !== null).sort((one, other) => one - other);
  if (!values.length) return null;
  if (values[0] === values[values.length - 1]) return section(title, make("p", { class: "quiet", text: `${format(values[0])} for all` }));
  const edges = edgesOf(values);
  const counted = (samples) => {
    const counts = new Array(edges.length - 1).fill(0);
    const width = edges[1] - edges[0];
    for (const sample of samples) {
      const value = sample[field];
      if (value !== null) counts[Math.max(0, Math.min(Math.floor((value - edges[0]) / width + 1e-9), counts.length - 1))] += 1;
    }
    return counts;
  };
  const [all, part] = [counted(data.samples), counted(shown)];
  const most = Math.max(...all);
  const high = (count) => (count ? `${Math.max(100 * count / most, 2)}%` : "0");
  const columns = all.map((count, place) => {
    const [low, top] = [edges[place], edges[place + 1]];
    const range = state.range;
    const active = range && range.field === field && range.low === low;
    const label = `${format(low)} to ${format(top)}: ${part[place]} of ${count}`;
    return make("button", {
      type: "button", class: "column", title: label, "aria-label": label, "aria-pressed": active ? "true" : "false",
      disabled: count ? null : "",
      onclick: () => apply({ range: active ? null : { field, low, high: top, text: `${title} ${format(low)} to ${format(top)}` } }),
    }, make("i", { class: "all", style: { height: high(count) } }), make("i", { class: "part", style: { height: high(part[place]) } }));
  });
  const here = shown.map((sample) => sample[field]).filter((value) => value !== null).sort((one, other) => one - other);
  const middle = here.length ? `median ${format(quantile(here, 0.5))}` : "";
  return section(title,
    make("div", { class: "histogram" }, ...columns),
    make("p", { class: "axis" }, make("span", { text: format(edges[0]) }), make("span", { text: middle }), make("span", { text: format(edges[edges.length - 1]) })));
}

function tally(samples, groups) {
  const counts = new Map();
  for (const sample of samples) for (const group of groups(sample)) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

function balance(title, key, names, groups, color) {
  const [all, part] = [tally(data.samples, groups), tally(shown, groups)];
  if (all.size < 2 && !names[[...all.keys()][0]]) return null;
  const rows = [...all].sort((one, other) => other[1] - one[1]).map(([number, count]) => ({
    name: names[number], all: count, count: part.get(number) ?? 0, active: state[key] === number, color: color?.(number),
    choose: () => apply({ [key]: state[key] === number ? -1 : number }),
  }));
  return section(`${title} (${all.size.toLocaleString("en")})`, bars(rows));
}

function channels() {
  const rows = shown.filter((sample) => sample.measures).map((sample) => sample.measures);
  if (!rows.length) return null;
  const mean = (place) => rows.reduce((sum, row) => sum + row[place], 0) / rows.length;
  const means = [4, 5, 6].map(mean);
  const deviations = [7, 8, 9].map((place, channel) => Math.sqrt(Math.max(mean(place) - means[channel] ** 2, 0)));
  const text = (values, scale) => values.map((value) => (value / scale).toFixed(scale > 1 ? 3 : 1)).join(", ");
  const table = make("table", {},
    make("tr", {}, make("td"), ...["red", "green", "blue"].map((name) => make("th", { scope: "col", text: name }))),
    ...[["mean", means], ["std", deviations]].map(([name, values]) => (
      make("tr", {}, make("th", { scope: "row", text: name }), ...values.map((value) => make("td", { text: value.toFixed(1) })))
    )));
  return section("Channels", table,
    make("code", { text: `mean=[${text(means, 255)}], std=[${text(deviations, 255)}]` }));
}

function issues() {
  const rows = ISSUES.map(([name, title, condition, words]) => ({
    name: title, title: words, all: data.samples.filter(condition).length, count: shown.filter(condition).length,
    active: state.show === name, choose: () => apply({ show: state.show === name ? "all" : name }),
  })).filter((row) => row.all);
  if (!rows.length) return section("Worth a look", make("p", { class: "quiet", text: "Nothing: no damage, no duplicates, no odd images." }));
  const element = section("Worth a look", bars(rows));
  element.querySelectorAll(".row").forEach((row, place) => { row.title = rows[place].title; });
  return element;
}

function summary() {
  const bytes = shown.reduce((sum, sample) => sum + sample.bytes, 0);
  const boxes = shown.reduce((sum, sample) => sum + sample.boxes, 0);
  const parts = [plural(shown.length, "sample"), bytes && size(bytes), boxes && plural(boxes, "box").replace("boxs", "boxes")];
  return make("p", { class: "summary", text: parts.filter(Boolean).join(" · ") });
}

function fillStatistics() {
  if (panel.hidden) return;
  const boxColor = (name) => data.boxColors[data.samples.flatMap((sample) => sample.cells[0].boxes ?? []).find((box) => box[4] === name)?.[5]];
  const parts = [
    summary(),
    issues(),
    balance("Classes", "class", data.classes, (sample) => (sample.number < 0 ? [] : [sample.class])),
    data.splits.length > 1 ? balance("Splits", "split", data.splits, (sample) => [sample.split]) : null,
    data.boxNames.length ? balance("Boxes", "box", data.boxNames, (sample) => sample.boxClasses, boxColor) : null,
    histogram("short", "Shorter side", (value) => `${Math.round(value)}`),
    histogram("aspect", "Width / height", (value) => value.toFixed(2)),
    histogram("brightness", "Brightness", (value) => value.toFixed(0)),
    channels(),
  ];
  const scrolled = panel.scrollTop;
  panel.replaceChildren(...parts.filter(Boolean));
  panel.scrollTop = scrolled;
}
