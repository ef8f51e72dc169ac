/** A treemap: rectangles whose areas are the values, as square as they can be (Bruls, Huizing and van Wijk). */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** @param values from the largest to the smallest, all above 0 */
export function squarify(values: readonly number[], width: number, height: number): Box[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const scale = total > 0 ? (width * height) / total : 0;
  const area = (at: number): number => (values[at] ?? 0) * scale;
  const boxes: Box[] = [];
  let rest: Box = { x: 0, y: 0, width, height };
  for (let at = 0; at < values.length; ) {
    const side = Math.min(rest.width, rest.height);
    let end = at + 1;
    const first = area(at);
    let sum = first;
    while (end < values.length) {
      const more = sum + area(end);
      if (worst(first, area(end), more, side) > worst(first, area(end - 1), sum, side)) break;
      sum = more;
      end += 1;
    }
    const depth = side > 0 ? sum / side : 0;
    const isColumn = rest.width >= rest.height;
    let along = 0;
    for (; at < end; at += 1) {
      const length = depth > 0 ? area(at) / depth : 0;
      boxes.push(
        isColumn
          ? { x: rest.x, y: rest.y + along, width: depth, height: length }
          : { x: rest.x + along, y: rest.y, width: length, height: depth },
      );
      along += length;
    }
    rest = isColumn
      ? { ...rest, x: rest.x + depth, width: Math.max(0, rest.width - depth) }
      : { ...rest, y: rest.y + depth, height: Math.max(0, rest.height - depth) };
  }
  return boxes;
}

/** How far from a square the worst rectangle of a row is. */
function worst(largest: number, smallest: number, sum: number, side: number): number {
  const square = side * side;
  return Math.max((square * largest) / (sum * sum), (sum * sum) / (square * smallest));
}
