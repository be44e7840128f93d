/**
 * The fast path of the batch decoder as a WebAssembly accelerator. Written in AssemblyScript; compiled by build.mjs.
 *
 * What it accepts and what it writes is said in ../src/fast/report2.ts, which it must equal cell by cell. Differences
 * are of method only: constants are compared 16 bytes at a time and in wire order, bytes are swapped four words at a
 * time, and stacks of four hops and more are transposed in registers, so that four rows of a column are one store.
 *
 * All addresses are bytes in the one memory. A frame's position is taken relative to the span that the caller vouches
 * for, so that the same offsets serve in place and after copying.
 */

// The context block, filled by ../src/fast/accelerator.ts in this order.
const INPUT: usize = 0;
const SPAN_START: usize = 4;
const SPAN_BYTES: usize = 8;
const OFFSETS: usize = 12;
const LENGTHS: usize = 16;
const STATE: usize = 20;
const FRAME_CODE: usize = 24;
const CODE: usize = 28;
const HOP_COUNT: usize = 32;
const PROTOCOL: usize = 36;
const REPORT_WORDS: usize = 40;
const REPORT_STRIDE: usize = 44;
const HOP_WORDS: usize = 48;
const HOP_STRIDE: usize = 52;
const FRAME_ROWS: usize = 56;
const REPORT_ROWS: usize = 60;
const HOP_ROWS: usize = 64;
const ETHERNET: usize = 68;
/** Reports may come to any port. */
const ANY_PORT: usize = 72;
/** Where the table is of what each UDP destination port says, by the port as it is on the wire. */
const PORTS: usize = 76;
const TOS_MASK: usize = 84;
const TOS_VALUE: usize = 88;
const STACK_SLOT_OF: usize = 92;
const STACK_SLOTS: usize = 96;
const OWN_SLOT_OF: usize = 100;
const OWN_SLOTS: usize = 104;
/** Out: why the run stopped early. */
const REASON: usize = 108;
/** Out: the bitmap that has no plan yet. */
const MISSING: usize = 112;
// Vectors: kept in the context because the engine builds a vector constant anew, in several instructions, each time.
const SWAP_INDEXES: usize = 128;
const GROUP_VALUE: usize = 144;
const GROUP_MASK: usize = 160;
const IP_VALUE: usize = 176;
const IP_MASK: usize = 192;
const SHIM_VALUE: usize = 208;
const SHIM_MASK: usize = 224;
// Words that hold two fields: how many kinds, then for each the index of the upper field's column and the bits of the lower one.
const SPLITS: usize = 240;
const SPLIT_BYTES: u32 = 8;

const REFUSED: u32 = 0;
const NO_STACK_PLAN: u32 = 1;
const NO_OWN_PLAN: u32 = 2;
const OUTSIDE_SPAN: u32 = 3;

// A slot of a plan table: column mask, words, 2^16 / words, the bitmap, then the byte offset of each word's column.
// Slots are found by the bitmap as it is on the wire.
const SLOT_SHIFT: u32 = 7;
const SLOT_WORDS: usize = 4;
const SLOT_RECIPROCAL: usize = 8;
const SLOT_BITMAP: usize = 12;
const SLOT_COLUMNS: usize = 16;

const BASE_FLAGS: u32 = 3 | (1 << 6) | (3 << 9) | (1 << 18);
const OVER_UDP: u32 = 1 << 12;
const OVER_TCP: u32 = 2 << 12;
const OVER_NEW_UDP: u32 = 3 << 12;
const FLAG_OWN: u32 = 1 << 20;

// What a port says, see `PORT` in ../src/fast/marks.ts.
const PORT_REPORT: u32 = 1;
const PORT_INT: u32 = 2;
const PORT_GENERAL: u32 = 4;

const TCP: u32 = 6;
const UDP: u32 = 17;
const INT_HEADERS_BYTES: u32 = 16;
const INNER_BYTES: u32 = 28 + INT_HEADERS_BYTES;
const SHORTEST_PAYLOAD: u32 = 64;

@inline
function be16(at: usize): u32 {
  return (<u32>load<u8>(at) << 8) | <u32>load<u8>(at, 1);
}

/** Fills `rows` rows from `cell` (the address of the first row in column 0) in all columns of a set with all ones. */
function blank(columns: u32, cell: usize, stride: u32, rows: u32): void {
  while (columns) {
    const column = ctz(columns);
    columns &= columns - 1;
    // Few rows as a rule: a bulk fill would cost a call out of the accelerator for each column.
    let at = cell + column * stride;
    const end = at + (rows << 2);
    for (; at + 16 <= end; at += 16) v128.store(at, i32x4.splat(-1));
    for (; at < end; at += 4) store<u32>(at, 0xffffffff);
  }
}

/**
 * Takes apart the words that hold two fields, in `rows` rows from `cell` (the address of the first row in column 0): the word is
 * in the lower field's column, and the upper field's is in front of it.
 */
function split(context: usize, columns: u32, cell: usize, stride: u32, rows: u32): void {
  const end = context + SPLITS + 4 + load<u32>(context, SPLITS) * SPLIT_BYTES;
  for (let kind = context + SPLITS + 4; kind < end; kind += SPLIT_BYTES) {
    const column = load<u32>(kind);
    if (!(columns & (1 << column))) continue;
    const bits = load<u32>(kind, 4);
    const mask: u32 = (1 << bits) - 1;
    let upper = cell + column * stride;
    let lower = upper + stride;
    const last = upper + (rows << 2);
    const masks = i32x4.splat(mask);
    for (; upper + 16 <= last; upper += 16, lower += 16) {
      const words = v128.load(lower);
      const missing = i32x4.eq(words, i32x4.splat(-1));
      v128.store(upper, v128.or(i32x4.shr_u(words, bits), missing));
      v128.store(lower, v128.or(v128.and(words, masks), missing));
    }
    for (; upper < last; upper += 4, lower += 4) {
      const word = load<u32>(lower);
      if (word == 0xffffffff) {
        store<u32>(upper, word);
      } else {
        store<u32>(upper, word >>> bits);
        store<u32>(lower, word & mask);
      }
    }
  }
}

/** Bytes of consecutive rows: short runs are common in mixed traffic and too short for a bulk fill. */
@inline
function fillBytes(at: usize, value: u8, count: u32): void {
  if (count < 16) {
    for (let k: u32 = 0; k < count; k++) store<u8>(at + k, value);
  } else {
    memory.fill(at, value, count);
  }
}

/** Decodes frames `from` to `to - 1`; returns the index of the frame it stopped at. */
export function decode(context: usize, from: u32, to: u32): u32 {
  const input = load<u32>(context, INPUT);
  const spanStart = load<u32>(context, SPAN_START);
  const spanBytes = load<u32>(context, SPAN_BYTES);
  const offsets = <usize>load<u32>(context, OFFSETS);
  const lengths = <usize>load<u32>(context, LENGTHS);
  const state = <usize>load<u32>(context, STATE);
  const reportWords = <usize>load<u32>(context, REPORT_WORDS);
  const hopWords = <usize>load<u32>(context, HOP_WORDS);
  const hopCounts = <usize>load<u32>(context, HOP_COUNT);
  const protocols = <usize>load<u32>(context, PROTOCOL);
  const rs = load<u32>(context, REPORT_STRIDE);
  const hopRows = load<u32>(context, HOP_ROWS);
  const ethernet = load<u32>(context, ETHERNET);
  const ports = <usize>load<u32>(context, PORTS);
  const tosMask = load<u32>(context, TOS_MASK);
  const tosValue = load<u32>(context, TOS_VALUE);
  const swapIndexes = v128.load(context, SWAP_INDEXES);
  const groupValue = v128.load(context, GROUP_VALUE);
  const groupMask = v128.load(context, GROUP_MASK);
  const ipValue = v128.load(context, IP_VALUE);
  const ipMask = v128.load(context, IP_MASK);
  const shimValue = v128.load(context, SHIM_VALUE);
  const shimMask = v128.load(context, SHIM_MASK);

  const frame0 = load<u32>(state, 0);
  const row0 = load<u32>(state, 4);
  let row = row0;
  const hopRow0 = load<u32>(state, 8);
  let hopRow = hopRow0;
  // Columns that rows of this run were written with.
  let used: u32 = 0;
  let written = load<u32>(state, 12);
  const drops = load<u32>(state, 16);

  const frameRows = load<u32>(context, FRAME_ROWS);
  const reportRows = load<u32>(context, REPORT_ROWS);
  let stop = from;
  if (frame0 < frameRows && row0 < reportRows) {
    stop = min(to, from + min(frameRows - frame0, reportRows - row0));
  }

  // Plan of the last frame: traffic of one kind looks it up once.
  let planBitmap: u32 = 0x10000;
  let plan: usize = 0;

  let reason = REFUSED;
  let index = from;
  for (; index < stop; index++) {
    const offset = load<u32>(offsets + (index << 2));
    const length = load<u32>(lengths + (index << 2));
    if (length < SHORTEST_PAYLOAD) break;
    // One comparison for both ends: what lies in front of the span wraps round.
    if (<u64>(offset - spanStart) + <u64>length > <u64>spanBytes) {
      reason = OUTSIDE_SPAN;
      break;
    }
    let start = <usize>(input + offset);
    let payload = length;
    // A payload that no port marks as a report is one only if its reserved bits are 0, too.
    let refusedBits: u32 = 0;
    if (ethernet) {
      const total = be16(start + 16);
      if (load<u16>(start, 12) != 0x0008) break;
      if (load<u8>(start, 14) != 0x45) break;
      if (load<u8>(start, 23) != 17) break;
      if (load<u16>(start, 20) & 0xff3f) break;
      const kind = <u32>load<u8>(ports + load<u16>(start, 36));
      if ((kind & (PORT_REPORT | PORT_GENERAL)) != PORT_REPORT) {
        if (!load<u32>(context, ANY_PORT)) break;
        if (kind) break;
        if ((<u32>load<u8>(start, 15) & tosMask) == tosValue) break;
        refusedBits = 15;
      }
      if (be16(start + 38) + 20 != total) break;
      if (total + 14 > length) break;
      if (total < 28 + SHORTEST_PAYLOAD) break;
      payload = total - 28;
      start += 42;
    }

    const type = <u32>load<u8>(start, 8);
    const after = <u32>load<u8>(start, 9);
    const ownWords = <u32>load<u8>(start, 10);
    if (12 + (after << 2) != payload) break;
    if (after == 255) break;
    let inner: u32 = 20 + (ownWords << 2);
    if (type == 0x13) {
      inner += 14;
      if (inner + INNER_BYTES > payload) break;
      if (load<u16>(start + inner - 2) != 0x0008) break;
    } else {
      if (type != 0x14) break;
      if (inner + INNER_BYTES > payload) break;
    }
    const ip = start + inner;

    // UDP or TCP, and where the shim begins, from the IPv4 header on.
    let protocol = <u32>load<u8>(ip, 9);
    let encapsulation = OVER_UDP;
    let shimAt: u32 = 28;
    let marking: u32 = 0;
    if (protocol == UDP) {
      marking = <u32>load<u8>(ports + load<u16>(ip, 22));
      if (marking & PORT_GENERAL) break;
    } else {
      if (protocol != TCP) break;
      const headerWords = <u32>load<u8>(ip, 32) >>> 4;
      if (headerWords < 5) break;
      encapsulation = OVER_TCP;
      shimAt = 20 + (headerWords << 2);
      if (inner + shimAt + INT_HEADERS_BYTES > payload) break;
    }

    // Constants of the report headers, the IPv4 header, and the metadata header, compared in wire order.
    const shim = ip + shimAt;
    const group4 = v128.load(start);
    if (
      v128.any_true(
        v128.or(
          v128.or(
            v128.and(v128.xor(group4, groupValue), groupMask),
            v128.and(v128.xor(v128.load(ip), ipValue), ipMask),
          ),
          v128.and(v128.xor(v128.load(shim), shimValue), shimMask),
        ),
      )
    ) {
      break;
    }
    if (load<u16>(start, 16)) break;
    if (<u32>load<u8>(start, 11) & refusedBits) break;
    const kind = <u32>load<u8>(shim) >>> 2;
    const shimWords = <u32>load<u8>(shim, 1);
    const innerBytes = shimAt + 4 + (shimWords << 2);
    const totalBytes = be16(ip + 2);
    if (shimWords < 3) break;
    if (inner + innerBytes > payload) break;
    if (innerBytes > totalBytes) break;
    let flow4 = v128.load(ip, 12);
    if (!(marking & PORT_INT)) {
      if (kind != 4) break;
      if ((<u32>load<u8>(ip, 1) & tosMask) != tosValue) break;
    } else if (kind == 5) {
      flow4 = v128.load_lane<u16>(shim + 2, flow4, 5);
    } else {
      // The original transport header stands behind the stack.
      protocol = <u32>load<u8>(shim, 3);
      if (kind != 6) break;
      if (protocol != TCP && protocol != UDP) break;
      if (inner + innerBytes + 4 > payload) break;
      if (innerBytes + 4 > totalBytes) break;
      flow4 = v128.load_lane<u32>(ip + innerBytes, flow4, 2);
      encapsulation = OVER_NEW_UDP;
    }

    let ownSlot: usize = 0;
    const wireBits = <u32>load<u16>(start, 12);
    let instructions: u32 = 0;
    if (ownWords) {
      const slot = <u32>load<u16>(<usize>load<u32>(context, OWN_SLOT_OF) + (wireBits << 1));
      if (!slot) {
        // Without bits there is no plan, and no words either.
        if (wireBits) {
          reason = NO_OWN_PLAN;
          store<u32>(context, wireBits, MISSING);
        }
        break;
      }
      ownSlot = <usize>load<u32>(context, OWN_SLOTS) + (slot << SLOT_SHIFT);
      if (load<u32>(ownSlot, SLOT_WORDS) != ownWords) break;
      instructions = load<u32>(ownSlot, SLOT_BITMAP);
    } else {
      if (wireBits) break;
    }

    const wireBitmap = <u32>load<u16>(shim, 8);
    if (wireBitmap != planBitmap) {
      const slot = <u32>load<u16>(<usize>load<u32>(context, STACK_SLOT_OF) + (wireBitmap << 1));
      if (!slot) {
        if (wireBitmap) {
          reason = NO_STACK_PLAN;
          store<u32>(context, wireBitmap, MISSING);
        }
        break;
      }
      plan = <usize>load<u32>(context, STACK_SLOTS) + (slot << SLOT_SHIFT);
      planBitmap = wireBitmap;
    }
    const planWords = load<u32>(plan, SLOT_WORDS);
    if ((<u32>load<u8>(shim, 6) & 31) != planWords) break;
    const stackWords = shimWords - 3;
    const hops = (stackWords * load<u32>(plan, SLOT_RECIPROCAL)) >>> 16;
    if (hops * planWords != stackWords) break;
    const rows = hops + u32(ownWords != 0);
    if (hopRow + rows > hopRows) break;

    // Accepted. The columns that are the same or count up over a run are filled behind the loop.
    const groupWords = i8x16.swizzle(group4, swapIndexes);
    const flowWords = i8x16.swizzle(flow4, swapIndexes);
    const group = <u32>i32x4.extract_lane(groupWords, 0);
    let flags =
      BASE_FLAGS |
      encapsulation |
      ((<u32>load<u8>(start, 11) & 0xf0) >>> 2) |
      ((<u32>load<u8>(shim, 4) & 0x0e) << 14) |
      ((group << 2) & 0x3f000000);
    if (ownWords) flags |= FLAG_OWN;
    let cell = reportWords + (row << 2) + rs;
    store<u32>(cell, flags);
    cell += rs;
    v128.store_lane<u32>(cell, groupWords, 1);
    cell += rs;
    store<u32>(cell, group & 0x3fffff);
    cell += rs;
    store<u32>(cell, instructions | (load<u32>(plan, SLOT_BITMAP) << 16));
    cell += rs;
    store<u32>(cell, hopRow);
    cell += rs;
    v128.store_lane<u32>(cell, flowWords, 2);
    cell += rs;
    v128.store_lane<u32>(cell, flowWords, 0);
    cell += rs << 2;
    v128.store_lane<u32>(cell, flowWords, 1);
    cell += 6 * rs;
    store<u32>(cell, select<u32>(<u32>ip - 14 - input, 0xffffffff, type == 0x13));
    store<u8>(hopCounts + row, <u8>rows);
    store<u8>(protocols + row, <u8>protocol);

    // Hop rows in path order: the first block on the wire is the last hop.
    const planMask = load<u32>(plan);
    const stale = written & ~planMask;
    if (stale) blank(stale, hopWords + (hopRow << 2), load<u32>(context, HOP_STRIDE), hops);
    const stack = shim + INT_HEADERS_BYTES;
    const last = hopWords + ((hopRow + hops) << 2) - 4;
    const block = planWords << 2;
    if (planWords < 4) {
      const end = ip + innerBytes;
      for (let word: u32 = 0; word < block; word += 4) {
        let target = last + load<u32>(plan + word, SLOT_COLUMNS);
        for (let at = stack + word; at < end; at += block) {
          v128.store_lane<u32>(target, i8x16.swizzle(v128.load_zero<u32>(at), swapIndexes), 0);
          target -= 4;
        }
      }
    } else {
      // Groups of four words; the last one may overlap the one before it and then writes some cells twice.
      let word: u32 = 0;
      while (true) {
        const c0 = last + load<u32>(plan + (word << 2), SLOT_COLUMNS);
        const c1 = last + load<u32>(plan + (word << 2), SLOT_COLUMNS + 4);
        const c2 = last + load<u32>(plan + (word << 2), SLOT_COLUMNS + 8);
        const c3 = last + load<u32>(plan + (word << 2), SLOT_COLUMNS + 12);
        let at = stack + (word << 2);
        let hop: u32 = 0;
        let back: u32 = 0;
        for (; hop + 4 <= hops; hop += 4) {
          const w3 = i8x16.swizzle(v128.load(at), swapIndexes);
          const w2 = i8x16.swizzle(v128.load(at + block), swapIndexes);
          const w1 = i8x16.swizzle(v128.load(at + 2 * block), swapIndexes);
          const w0 = i8x16.swizzle(v128.load(at + 3 * block), swapIndexes);
          const low01 = v128.shuffle<u32>(w0, w1, 0, 4, 1, 5);
          const low23 = v128.shuffle<u32>(w2, w3, 0, 4, 1, 5);
          const high01 = v128.shuffle<u32>(w0, w1, 2, 6, 3, 7);
          const high23 = v128.shuffle<u32>(w2, w3, 2, 6, 3, 7);
          v128.store(c0 - back - 12, v128.shuffle<u64>(low01, low23, 0, 2));
          v128.store(c1 - back - 12, v128.shuffle<u64>(low01, low23, 1, 3));
          v128.store(c2 - back - 12, v128.shuffle<u64>(high01, high23, 0, 2));
          v128.store(c3 - back - 12, v128.shuffle<u64>(high01, high23, 1, 3));
          at += block << 2;
          back += 16;
        }
        for (; hop < hops; hop++) {
          const words = i8x16.swizzle(v128.load(at), swapIndexes);
          v128.store_lane<u32>(c0 - back, words, 0);
          v128.store_lane<u32>(c1 - back, words, 1);
          v128.store_lane<u32>(c2 - back, words, 2);
          v128.store_lane<u32>(c3 - back, words, 3);
          at += block;
          back += 4;
        }
        word += 4;
        if (word == planWords) break;
        if (word + 4 > planWords) word = planWords - 4;
      }
    }
    hopRow += hops;
    written |= planMask;
    used |= planMask;

    if (ownWords) {
      const mask = load<u32>(ownSlot) | 1;
      const target = hopWords + (hopRow << 2);
      const ownStale = written & ~mask;
      if (ownStale) blank(ownStale, target, load<u32>(context, HOP_STRIDE), 1);
      v128.store_lane<u32>(target, groupWords, 1);
      for (let word: u32 = 0; word < ownWords << 2; word += 4) {
        v128.store_lane<u32>(
          target + load<u32>(ownSlot + word, SLOT_COLUMNS),
          i8x16.swizzle(v128.load_zero<u32>(start + word, 20), swapIndexes),
          0,
        );
      }
      hopRow++;
      written |= mask;
      used |= mask;
    }
    row++;
  }

  const count = row - row0;
  if (count) {
    split(context, used, hopWords + (hopRow0 << 2), load<u32>(context, HOP_STRIDE), hopRow - hopRow0);
    fillBytes(<usize>load<u32>(context, FRAME_CODE) + frame0, 0, count);
    fillBytes(<usize>load<u32>(context, CODE) + row0, 0, count);
    let cell = reportWords + (row0 << 2);
    const end = reportWords + (row << 2);
    if (drops) memory.fill(cell + 16 * rs, 0xff, count << 2);
    let value = frame0;
    let values = i32x4.add(i32x4.splat(value), i32x4(0, 1, 2, 3));
    for (; cell + 16 <= end; cell += 16) {
      v128.store(cell, values);
      values = i32x4.add(values, i32x4.splat(4));
      value += 4;
    }
    for (; cell < end; cell += 4) store<u32>(cell, value++);
  }
  store<u32>(state, frame0 + count, 0);
  store<u32>(state, row, 4);
  store<u32>(state, hopRow, 8);
  store<u32>(state, written, 12);
  store<u32>(context, reason, REASON);
  return index;
}
