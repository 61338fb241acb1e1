// One image with its mask and boxes.

const LETTER = 6.4; // about how wide letters of names of boxes are, and how high a name is; see page.css
const TAG = 15;
const FEW_PIXELS = 128 * 128;

// Names are drawn above or below their boxes or inside of them, as far as possible where no other name is.
function placeTags(boxes, width, height) {
  const taken = [];
  const tags = new Map();
  for (const box of boxes) {
    const [left, top, right, bottom] = box.map((side, place) => side * (place % 2 ? height : width) / 1e5);
    const wide = data.boxNames[box[4]].length * LETTER + 6;
    const rows = [["above", top - TAG], ["top", top], ["below", bottom], ["bottom", bottom - TAG]];
    const columns = [["", left], [" end", right - wide]];
    const options = columns.flatMap(([end, x]) => rows.map(([side, y]) => ({ side: side + end, x, y })))
      .filter(({ x, y }) => x >= 0 && y >= 0 && x + wide <= width && y + TAG <= height);
    const isFree = ({ x, y }) => taken.every((other) => (
      x + wide <= other.x || other.x + other.wide <= x || y + TAG <= other.y || other.y + TAG <= y
    ));
    const found = options.find(isFree) ?? (boxes.length > 12 ? undefined : options[0]);
    if (found && wide > 6) {
      taken.push({ ...found, wide });
      tags.set(box, found.side);
    }
  }
  return tags;
}

const ink = (color) => {
  const [red, green, blue] = [1, 3, 5].map((place) => (parseInt(color.substr(place, 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
};

function boxElements(cell, width, height) {
  const area = (box) => (box[2] - box[0]) * (box[3] - box[1]);
  const boxes = cell.boxes.slice().sort((one, other) => area(other) - area(one)); // small ones on top
  const tags = data.labels && width > 90 ? placeTags(boxes, width, height) : new Map();
  return boxes.map((box) => {
    const color = data.boxColors[box[5]];
    const style = {
      left: `${box[0] / 1e3}%`, top: `${box[1] / 1e3}%`, "--box": color, "--tag": ink(color),
      width: `${(box[2] - box[0]) / 1e3}%`, height: `${(box[3] - box[1]) / 1e3}%`,
    };
    const side = tags.get(box);
    const tag = side ? [make("b", { class: side, text: data.boxNames[box[4]] })] : [];
    if (box.length === 6) return [make("span", { class: "box", style }, ...tag)];
    return [turnedBox(box.slice(6), color, width, height), make("span", { class: "box bounds", style }, ...tag)];
  }).flat();
}

// Returns the outline of an oriented box, whose corners are given as x and y in turn: a line for each edge.
function turnedBox(corners, color, width, height) {
  const points = [0, 2, 4, 6].map((place) => [corners[place] * width / 1e5, corners[place + 1] * height / 1e5]);
  const edges = points.map(([x, y], place) => {
    const [across, down] = [points[(place + 1) % 4][0] - x, points[(place + 1) % 4][1] - y];
    const turn = `rotate(${Math.atan2(down, across)}rad)`;
    return make("i", { style: { left: `${x}px`, top: `${y}px`, width: `${Math.hypot(across, down)}px`, transform: turn } });
  });
  return make("span", { class: "box turned", style: { "--box": color } }, ...edges);
}

// Returns the image of a cell, as large as fits into a frame, or what is wrong with it.
function frame(cell, width, height, description) {
  const children = [];
  if (cell.image) {
    const scale = Math.min(width / cell.width, height / cell.height);
    const [wide, high] = [Math.max(cell.width * scale, 1), Math.max(cell.height * scale, 1)];
    const isSmall = cell.width * cell.height <= FEW_PIXELS && scale > 2;
    const image = make("img", { src: address(cell.image, cell.kind), alt: description, decoding: "async", draggable: "false" });
    const picture = make("span", {
      class: `picture${isSmall ? " few" : ""}${cell.kind === "png" ? " clear" : ""}`,
      style: { width: `${wide}px`, height: `${high}px` },
    }, image);
    if (cell.mask) picture.append(make("img", { class: "mask", src: address(cell.mask, "png"), alt: "" }));
    if (cell.boxes) picture.append(...boxElements(cell, wide, high));
    children.push(picture);
  }
  if (cell.problem) {
    children.push(make("span", { class: "problem" }, make("b", { text: cell.problem[0] }), ` ${cell.problem[1]}`));
  }
  const style = { width: `${width}px`, height: `${height}px` };
  return make("span", { class: `frame${cell.problem ? " bad" : ""}`, style }, ...children);
}

function describe(sample) {
  const parts = [sample.cells[0].first, `#${sample.number}`, sample.key !== sample.cells[0].first && sample.key];
  if (sample.number < 0) parts.splice(1, 1);
  return [...parts, sample.bad && `damaged: ${sample.bad[0]}`].filter(Boolean).join(", ");
}
