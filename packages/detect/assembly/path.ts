/** Path change. */

import { address, bareEvent, close, column, context, NONE, values, withoutFlow, word } from './context';
import * as block from './context';

@inline
function mix(hash: u32, id: u32, before: u32, after: u32): u32 {
  return rotl<u32>(hash ^ (rotl<u32>(id * before, 15) * after), 13) * 5 + 0x561ccd1b;
}

/** `metric` and `threshold` are those of the other loops: a path has neither. */
export function pathChange(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const nodes = values(0);
  const owns = column(block.NODE);
  const flags = column(block.FLAGS);
  const base = address(block.STATE) + (<usize>state << 2);
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const first = word(starts, row);
    // The reporting node is looked at by itself, so that it counts once.
    const hops = <u32>load<u8>(counts + row) - u32((word(flags, row) & block.FLAG_OWN) != 0);
    let a: u32 = 0x2545f491;
    let b: u32 = 0x9e3779b9;
    let length: u32 = 0;
    let last = NONE;
    for (let hop: u32 = 0; hop < hops; hop++) {
      const id = word(nodes, first + hop);
      if (id == NONE) continue;
      a = mix(a, id, 0x239b961b, 0xab0e9789);
      b = mix(b, id, 0x38b34ae5, 0xa1e38b93);
      last = id;
      length++;
    }
    const own = word(owns, row);
    if (own != NONE && own != last) {
      a = mix(a, own, 0x239b961b, 0xab0e9789);
      b = mix(b, own, 0x38b34ae5, 0xa1e38b93);
      length++;
    }
    if (length == 0) continue;
    const cell = base + <usize>flow * 12;
    const known = load<u32>(cell);
    if (known != 0 && (known != length + 1 || load<u32>(cell, 4) != a || load<u32>(cell, 8) != b)) {
      bareEvent(count++, row, slot, kind);
    }
    store<u32>(cell, length + 1);
    store<u32>(cell, a, 4);
    store<u32>(cell, b, 8);
  }
  close(count, count - begin);
}
