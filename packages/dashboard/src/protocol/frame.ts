import type { SeriesFrame } from './live.js';

/** Bytes before the columns of a frame. */
const HEADER_BYTES = 24;
/** The first byte of a frame of series. */
const SERIES = 1;
const VERSION = 1;
/** Columns of a frame at most, and values of a column. */
const MAX_COLUMNS = 4096;
const MAX_VALUES = 1 << 20;

/**
 * Writes a frame, see {@link SeriesFrame}.
 * @throws RangeError if a column has another length than `n`
 */
export function encodeSeriesFrame({ id, sequence, t0, dt, n, columns }: SeriesFrame): Uint8Array<ArrayBuffer> {
  const buffer = new ArrayBuffer(HEADER_BYTES + columns.length * n * 4);
  const view = new DataView(buffer);
  view.setUint8(0, SERIES);
  view.setUint8(1, VERSION);
  view.setUint16(2, id, true);
  view.setUint32(4, sequence, true);
  view.setFloat64(8, t0, true);
  view.setFloat32(16, dt, true);
  view.setUint32(20, n, true);
  let at = HEADER_BYTES;
  for (const column of columns) {
    if (column.length !== n) throw new RangeError(`a column of ${column.length} values in a frame of ${n}`);
    for (let row = 0; row < n; row++, at += 4) view.setFloat32(at, column[row]!, true);
  }
  return new Uint8Array(buffer);
}

/** Reads a frame; `null` if it is none of this version, or its length does not close. */
export function decodeSeriesFrame(bytes: ArrayBuffer): SeriesFrame | null {
  if (bytes.byteLength < HEADER_BYTES) return null;
  const view = new DataView(bytes);
  if (view.getUint8(0) !== SERIES || view.getUint8(1) !== VERSION) return null;
  const n = view.getUint32(20, true);
  const values = (bytes.byteLength - HEADER_BYTES) / 4;
  if (n > MAX_VALUES || !Number.isInteger(values)) return null;
  const count = n === 0 ? 0 : values / n;
  if (!Number.isInteger(count) || count > MAX_COLUMNS || (n === 0 && values > 0)) return null;
  const columns = Array.from({ length: count }, (_, column) => floats(view, HEADER_BYTES + column * n * 4, n));
  return {
    id: view.getUint16(2, true),
    sequence: view.getUint32(4, true),
    t0: view.getFloat64(8, true),
    dt: view.getFloat32(16, true),
    n,
    columns,
  };
}

/** Whether this machine has the byte order of the frames. */
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function floats({ buffer }: DataView<ArrayBuffer>, at: number, n: number): Float32Array {
  if (IS_LITTLE) return new Float32Array(buffer, at, n);
  const view = new DataView(buffer, at, n * 4);
  return Float32Array.from({ length: n }, (_, row) => view.getFloat32(row * 4, true));
}
