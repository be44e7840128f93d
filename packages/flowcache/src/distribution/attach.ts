/** Reads and checks distributions that somebody else has laid out. */
import { METRICS, type MetricName } from '@int/codec';
import { BIN_KIND, type Bins, MAX_BINS } from './bins.js';
import { DistributionError, type DistributionErrorCode } from './errors.js';
import {
  COUNTERS_END,
  DISTRIBUTION_COUNTER,
  DISTRIBUTION_HEADER,
  DISTRIBUTION_MAGIC,
  DISTRIBUTION_SPEC,
  DISTRIBUTION_VERSION,
  type DistributionDimensions,
  type DistributionName,
  type DistributionPlan,
  FIRST_MUTABLE_WORD,
  FIRST_SWITCH_ROW,
  histogramCells,
  MAX_COUNT,
  planOf,
  preambleOf,
  SPEC_WORDS,
  SPECS_AT,
} from './layout.js';
import { DistributionMemory } from './memory.js';

/**
 * Checks where distributions are to start.
 * @throws DistributionError `ERR_DISTRIBUTION_BUFFER`
 */
export function checkOffset(byteOffset: number, bufferBytes: number): void {
  if (Number.isInteger(byteOffset) && byteOffset >= 0 && byteOffset % 8 === 0 && byteOffset <= bufferBytes) return;
  throw new DistributionError(
    'ERR_DISTRIBUTION_BUFFER',
    `byteOffset must be a multiple of 8 within the buffer's ${bufferBytes} bytes, not ${byteOffset}`,
  );
}

/**
 * Reads the dimensions of distributions, and checks all cells in use. Another thread may record meanwhile.
 *
 * @throws DistributionError `ERR_DISTRIBUTION_` BUFFER, TRUNCATED, MAGIC, VERSION, LAYOUT, TABLE or COUNT
 */
export function readDimensions(buffer: ArrayBufferLike, byteOffset: number): DistributionDimensions {
  checkOffset(byteOffset, buffer.byteLength);
  const bytes = buffer.byteLength - byteOffset;
  const fail = (code: DistributionErrorCode, word: number, message: string): never => {
    throw new DistributionError(code, message, byteOffset + 4 * word);
  };
  if (bytes < SPECS_AT * 4) fail('ERR_DISTRIBUTION_TRUNCATED', 0, `${bytes} bytes are no header of ${SPECS_AT * 4}`);
  const words = new Uint32Array(buffer, byteOffset, Math.min(Math.floor(bytes / 4), 2 ** 29));
  const { MAGIC, VERSION, BYTES, METRICS: COUNT, SWITCHES, SEED } = DISTRIBUTION_HEADER;
  const word = (at: number): number => words[at]!;
  if (word(MAGIC) !== DISTRIBUTION_MAGIC) fail('ERR_DISTRIBUTION_MAGIC', MAGIC, 'no distributions');
  if (word(VERSION) !== DISTRIBUTION_VERSION) {
    fail('ERR_DISTRIBUTION_VERSION', VERSION, `layout version ${word(VERSION)}, ${DISTRIBUTION_VERSION} is known`);
  }
  if (word(BYTES) > bytes)
    fail('ERR_DISTRIBUTION_TRUNCATED', BYTES, `${word(BYTES)} bytes, the buffer leaves ${bytes}`);
  const count = word(COUNT);
  const edgesAt = SPECS_AT + (count + 1) * SPEC_WORDS;
  if (count < 1 || count > METRICS.length || edgesAt > words.length)
    fail('ERR_DISTRIBUTION_LAYOUT', COUNT, `${count} metrics`);

  const metrics: MetricName[] = [];
  const bins: { [K in DistributionName]?: Bins } = {};
  for (let index = 0; index <= count; index++) {
    const at = SPECS_AT + index * SPEC_WORDS;
    const metric = METRICS[word(at + DISTRIBUTION_SPEC.METRIC)];
    if (index < count && metric === undefined)
      fail('ERR_DISTRIBUTION_LAYOUT', at + DISTRIBUTION_SPEC.METRIC, 'unknown metric');
    const from = word(at + DISTRIBUTION_SPEC.FROM);
    const to = word(at + DISTRIBUTION_SPEC.LAST) + 1;
    const parameter = word(at + DISTRIBUTION_SPEC.PARAMETER);
    const binCount = word(at + DISTRIBUTION_SPEC.COUNT);
    const edges = word(at + DISTRIBUTION_SPEC.EDGES) / 4;
    const kind = word(at + DISTRIBUTION_SPEC.KIND);
    let read: Bins;
    if (kind === BIN_KIND.LINEAR) read = { kind: 'linear', from, width: parameter, count: binCount };
    else if (kind === BIN_KIND.LOGARITHMIC) read = { kind: 'logarithmic', from, to, perOctave: 2 ** parameter };
    else if (kind === BIN_KIND.EXPLICIT && binCount <= MAX_BINS && edges + binCount <= words.length) {
      read = { kind: 'explicit', edges: [...words.subarray(edges, edges + binCount), to] };
    } else return fail('ERR_DISTRIBUTION_LAYOUT', at + DISTRIBUTION_SPEC.KIND, 'no bins');
    const name = index < count ? metric!.name : 'endToEnd';
    if (name !== 'endToEnd') metrics.push(name);
    bins[name] = read;
  }

  const dimensions = { metrics, bins, switches: word(SWITCHES), seed: word(SEED) };
  const plan = planRead(dimensions, byteOffset);
  const expected = preambleOf(plan);
  // The number of bytes is compared first: so all that follows lies in the buffer.
  expected.forEach((value, at) => {
    const isMutable = at >= FIRST_MUTABLE_WORD && at < SPECS_AT;
    if (!isMutable && value >>> 0 !== word(at)) {
      fail('ERR_DISTRIBUTION_LAYOUT', at, `${word(at)} where the dimensions give ${value >>> 0}`);
    }
  });
  const memory = new DistributionMemory(buffer, byteOffset, plan);
  checkTable(memory, byteOffset);
  checkCells(memory, byteOffset);
  return dimensions;
}

function planRead(dimensions: DistributionDimensions, byteOffset: number): DistributionPlan {
  try {
    return planOf(dimensions);
  } catch (error) {
    if (!DistributionError.is(error)) throw error;
    throw new DistributionError('ERR_DISTRIBUTION_LAYOUT', error.message, byteOffset);
  }
}

/** Checks that every switch has one row, which the table finds. */
function checkTable(memory: DistributionMemory, byteOffset: number): void {
  const { words, plan } = memory;
  const { slots, tableAt, nodesAt, switches } = plan;
  const fail = (at: number, message: string): never => {
    throw new DistributionError('ERR_DISTRIBUTION_TABLE', message, byteOffset + 4 * at);
  };
  // A writer may add switches meanwhile. Those that were there before must be found.
  const used = Atomics.load(words, DISTRIBUTION_HEADER.USED);
  if (used >>> 0 > switches) fail(DISTRIBUTION_HEADER.USED, `${used >>> 0} switches in ${switches} rows`);
  for (let at = tableAt + 2 * slots; at < nodesAt; at++) {
    if (words[at] !== 0) fail(at, 'not 0 behind the table');
  }
  const seen = new Uint8Array(switches);
  for (let slot = tableAt; slot < tableAt + 2 * slots; slot += 2) {
    const base = Atomics.load(words, slot + 1);
    if (base === 0) continue;
    const k = (base - memory.rowAt(FIRST_SWITCH_ROW)) / plan.rowStride;
    if (!Number.isInteger(k) || k < 0 || k >= switches) fail(slot + 1, `${base >>> 0} is no row of a switch`);
    if (k >= memory.used || memory.node(k) !== words[slot]) fail(slot, 'not the id of the switch whose row this is');
    if (seen[k] !== 0) fail(slot, 'a second slot for the same row');
    seen[k] = 1;
  }
  for (let k = 0; k < used; k++) {
    const id = memory.node(k);
    if (id === -1) fail(nodesAt + k, 'all ones is no switch');
    const found = memory.find(id);
    // The last one may be about to be added.
    if (found !== memory.rowAt(FIRST_SWITCH_ROW + k) && (k < used - 1 || found !== 0)) {
      fail(nodesAt + k, 'a switch that the table does not find');
    }
  }
}

/** Checks that all cells in use hold counts. */
function checkCells(memory: DistributionMemory, byteOffset: number): void {
  const { cells, plan } = memory;
  const check = (from: number, to: number): void => {
    for (let at = from; at < to; at++) {
      const count = cells[at]!;
      if (Number.isInteger(count) && count >= 0 && count <= MAX_COUNT) continue;
      throw new DistributionError('ERR_DISTRIBUTION_COUNT', `${count} is no count`, byteOffset + 8 * at);
    }
  };
  check(DISTRIBUTION_COUNTER.REPORTS, COUNTERS_END);
  check(plan.endToEndAt, plan.endToEndAt + histogramCells(plan.endToEnd.count));
  const last = plan.metrics.at(-1)!;
  for (let row = 0; row < FIRST_SWITCH_ROW + memory.used; row++) {
    check(memory.rowAt(row), memory.rowAt(row) + last.at + histogramCells(last.count));
  }
}
