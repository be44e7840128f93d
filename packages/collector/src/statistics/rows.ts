/** Adds a cell to another one, and clears it. */
export function move(cells: Float64Array, from: number, to: number): void {
  cells[to]! += cells[from]!;
  cells[from] = 0;
}

/** A copy of the first rows, and of the row `other` behind them. */
export function rowsOf(cells: Float64Array, rows: number, other: number, width = 1): Float64Array {
  const copy = new Float64Array((rows + 1) * width);
  copy.set(cells.subarray(0, rows * width));
  copy.set(cells.subarray(other * width, (other + 1) * width), rows * width);
  return copy;
}
