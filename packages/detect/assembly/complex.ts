/** Complex expressions. The program: number of metrics, of clauses, base of the history or -1; for each metric column,
 * shift, mask, base of the previous sums or -1, bit; for each clause the number of conditions, and for each of them
 * aggregate, operator, constant, metric. Behind it, the aggregates of the report at hand. */

import {
  address,
  bareEvent,
  CELLS,
  close,
  column,
  context,
  COUNT,
  difference,
  HOP_COUNT,
  HOP_START,
  NONE,
  PROGRAM,
  STATE,
  values,
  withoutFlow,
  word,
} from './context';

const PROGRAM_METRICS: usize = 12;
const METRIC_BYTES: usize = 20;
const AGGREGATES: usize = 2048;
const AGGREGATE_BYTES: usize = 32;

const ANY: u32 = 0;
const ALL: u32 = 1;
const SUM: u32 = 2;
const MAX: u32 = 3;
const MIN: u32 = 4;
const LAST: u32 = 5;
const DELTA: u32 = 6;
const COUNT_OF: u32 = 7;

@inline
function compare(value: u32, operator: u32, constant: u32): bool {
  switch (operator) {
    case 0:
      return value < constant;
    case 1:
      return value <= constant;
    case 2:
      return value == constant;
    case 3:
      return value != constant;
    case 4:
      return value >= constant;
    default:
      return value > constant;
  }
}

function occurs(metric: usize, first: u32, hops: u32, constant: u32): bool {
  const items = values(load<u32>(metric));
  const shift = load<u32>(metric, 4);
  const mask = load<u32>(metric, 8);
  for (let hop: u32 = 0; hop < hops; hop++) {
    const item = word(items, first + hop);
    if (item != NONE && ((item >> shift) & mask) == constant) return true;
  }
  return false;
}

function holds(program: usize, condition: usize, first: u32, hops: u32, seen: u32): bool {
  const aggregate = load<u32>(condition);
  const operator = load<u32>(condition, 4);
  const constant = load<u32>(condition, 8);
  if (aggregate == COUNT_OF) return compare(seen, operator, constant);
  const metric = <usize>load<u32>(condition, 12);
  const found = program + AGGREGATES + metric * AGGREGATE_BYTES;
  if (load<u32>(found) == 0) return false;
  // carried, sum, maximum, minimum, last, delta
  if (aggregate == SUM) return compare(load<u32>(found, 4), operator, constant);
  const maximum = load<u32>(found, 8);
  const minimum = load<u32>(found, 12);
  if (aggregate == MAX) return compare(maximum, operator, constant);
  if (aggregate == MIN) return compare(minimum, operator, constant);
  if (aggregate == LAST) return compare(load<u32>(found, 16), operator, constant);
  if (aggregate == DELTA) return compare(load<u32>(found, 20), operator, constant);
  const isAny = aggregate == ANY;
  if (operator == 2 || operator == 3) {
    if (isAny == (operator == 2)) {
      return occurs(program + PROGRAM_METRICS + metric * METRIC_BYTES, first, hops, constant) == isAny;
    }
    return (minimum == constant && maximum == constant) == !isAny;
  }
  return compare((operator < 2) == isAny ? minimum : maximum, operator, constant);
}

/** Reads a report's hops into the aggregates of a metric. @returns hops that carry it */
@inline
function aggregate(metric: usize, found: usize, first: u32, hops: u32): u32 {
  const items = values(load<u32>(metric));
  const shift = load<u32>(metric, 4);
  const mask = load<u32>(metric, 8);
  let carried: u32 = 0;
  let total: u64 = 0;
  let maximum: u32 = 0;
  let minimum: u32 = NONE;
  let last: u32 = 0;
  for (let hop: u32 = 0; hop < hops; hop++) {
    const item = word(items, first + hop);
    if (item == NONE) continue;
    const x = (item >> shift) & mask;
    carried++;
    total += <u64>x;
    maximum = max(maximum, x);
    minimum = min(minimum, x);
    last = x;
  }
  store<u32>(found, carried);
  store<u32>(found, <u32>min<u64>(total, 0xffffffff), 4);
  store<u32>(found, maximum, 8);
  store<u32>(found, minimum, 12);
  store<u32>(found, last, 16);
  store<u32>(found, 0, 20);
  return carried;
}

export function complex(from: u32, to: u32, slot: u32, kind: u32): void {
  const starts = column(HOP_START);
  const counts = address(HOP_COUNT);
  const cells = address(CELLS);
  const program = address(PROGRAM);
  const metrics = load<u32>(program);
  const clauses = load<u32>(program, 4);
  const history = load<u32>(program, 8);
  const conditions = program + PROGRAM_METRICS + <usize>metrics * METRIC_BYTES;
  const begin = load<u32>(context + COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = history == NONE ? 0 : word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const first = word(starts, row);
    const hops = <u32>load<u8>(counts + row);
    let carried: u32 = u32(metrics == 0);
    for (let m: u32 = 0; m < metrics; m++) {
      const metric = program + PROGRAM_METRICS + <usize>m * METRIC_BYTES;
      carried += aggregate(metric, program + AGGREGATES + <usize>m * AGGREGATE_BYTES, first, hops);
    }
    if (carried == 0) continue;
    let seen: u32 = 0;
    if (history != NONE) {
      const cell = address(STATE) + ((<usize>history + 2 * <usize>flow) << 2);
      seen = load<u32>(cell);
      if (seen != NONE) seen++;
      store<u32>(cell, seen);
      for (let m: u32 = 0; m < metrics; m++) {
        const metric = program + PROGRAM_METRICS + <usize>m * METRIC_BYTES;
        const sums = load<u32>(metric, 12);
        const found = program + AGGREGATES + <usize>m * AGGREGATE_BYTES;
        if (sums == NONE || load<u32>(found) == 0) continue;
        const at = address(STATE) + ((<usize>sums + <usize>flow) << 2);
        const x = load<u32>(found, 4);
        const bit = load<u32>(metric, 16);
        const known = load<u32>(cell, 4);
        if ((known & bit) != 0) store<u32>(found, difference(x, load<u32>(at)), 20);
        store<u32>(cell, known | bit, 4);
        store<u32>(at, x);
      }
    }
    let isTrue = true;
    let at = conditions;
    for (let c: u32 = 0; isTrue && c < clauses; c++) {
      const end = at + 4 + (<usize>load<u32>(at) << 4);
      isTrue = false;
      for (at += 4; !isTrue && at < end; at += 16) isTrue = holds(program, at, first, hops, seen);
      at = end;
    }
    if (isTrue) bareEvent(count++, row, slot, kind);
  }
  close(count, count - begin);
}
