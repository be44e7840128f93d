/** The context block: where everything lies, and what the loops count. */

// The context block, filled by ../src/engine/accelerator/accelerator.ts in this order.
export const HOPS: usize = 0;
export const HOP_STRIDE: usize = 4;
export const REPORT: usize = 8;
export const REPORT_STRIDE: usize = 12;
export const HOP_COUNT: usize = 16;
export const CODE: usize = 20;
export const PROTOCOL: usize = 24;
export const HASHES: usize = 28;
export const CELLS: usize = 32;
export const DECISIONS: usize = 36;
export const EVENTS: usize = 40;
export const EVENT_STRIDE: usize = 44;
export const STATE: usize = 48;
export const SWITCH_MASK: usize = 52;
export const FLOW_CELLS: usize = 56;
export const POSITIONS: usize = 60;
export const TABLES: usize = 64;
/** In and out: events written. */
export const COUNT: usize = 68;
/** Out, added to: see DetectorTotals. */
export const SURVIVORS: usize = 72;
export const WITHOUT_FLOW: usize = 76;
export const BEYOND_POSITIONS: usize = 80;
/** Out: whether one decision holds for all rows just prepared. */
export const UNIFORM: usize = 84;

// Report columns, as in REPORT_WORD_COLUMNS of the codec.
export const FLAGS: usize = 1;
export const NODE: usize = 2;
export const HOP_START: usize = 5;
export const PORTS: usize = 6;
export const SOURCE: usize = 7;
export const DESTINATION: usize = 11;
export const FLAG_FLOW: u32 = 1 << 18;
export const FLAG_IPV6: u32 = 1 << 19;
export const FLAG_OWN: u32 = 1 << 20;
export const NOT_OK: u32 = 0xfffffffe;

export const NONE: u32 = 0xffffffff;
export const NO_SUM: u64 = 0xffffffffffffffff;

export let context: usize = 0;

/** Takes the address of the context block. */
export function attach(at: usize): void {
  context = at;
}

@inline
export function address(field: usize): usize {
  return <usize>load<u32>(context + field);
}

@inline
export function column(index: usize): usize {
  return address(REPORT) + index * address(REPORT_STRIDE);
}

@inline
export function values(hopColumn: u32): usize {
  return address(HOPS) + <usize>hopColumn * address(HOP_STRIDE);
}

@inline
export function word(base: usize, index: u32): u32 {
  return load<u32>(base + (<usize>index << 2));
}

@inline
export function difference(a: u32, b: u32): u32 {
  return a > b ? a - b : b - a;
}

/** Writes the columns that every event has. */
@inline
export function bareEvent(count: u32, row: u32, slot: u32, kind: u32): void {
  const stride = address(EVENT_STRIDE);
  const at = address(EVENTS) + (<usize>count << 2);
  store<u32>(at, row);
  store<u32>(at + stride, slot);
  store<u32>(at + 2 * stride, kind);
}

@inline
export function flowEvent(count: u32, row: u32, slot: u32, kind: u32, value: u32, previous: u32, threshold: u32): void {
  bareEvent(count, row, slot, kind);
  const stride = address(EVENT_STRIDE);
  let at = address(EVENTS) + (<usize>count << 2) + 5 * stride;
  store<u32>(at, value);
  at += stride;
  store<u32>(at, previous);
  store<u32>(at + stride, threshold);
}

@inline
export function hopEvent(count: u32, row: u32, slot: u32, kind: u32, hop: u32, node: u32, value: u32, previous: u32, threshold: u32): void {
  flowEvent(count, row, slot, kind, value, previous, threshold);
  const stride = address(EVENT_STRIDE);
  const at = address(EVENTS) + (<usize>count << 2) + 3 * stride;
  store<u32>(at, hop);
  store<u32>(at + stride, node);
}

/** Ends a loop: events in the batch, and reports of the loop that raised one. */
@inline
export function close(count: u32, survivors: u32): void {
  store<u32>(context + COUNT, count);
  store<u32>(context + SURVIVORS, load<u32>(context + SURVIVORS) + survivors);
}

@inline
export function withoutFlow(): void {
  store<u32>(context + WITHOUT_FLOW, load<u32>(context + WITHOUT_FLOW) + 1);
}
