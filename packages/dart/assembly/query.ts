/** Answering: the rule is that of ../src/store/answer.ts. */

import { copy, isSame } from './bytes';
import {
  address,
  at,
  AGREEING,
  ANSWERS,
  CANDIDATES,
  cell,
  checksumBytes,
  copies,
  MATCHING,
  places,
  slotBytes,
  STATUS,
  valueBytes,
  wordMask,
} from './context';

const VALUE: u32 = 0;
const ABSENT: u32 = 1;
const CONFLICT: u32 = 2;

/** Keeps the loads of {@link touch} from being left out. */
export let touched: u32 = 0;

/**
 * Asks for the slots of a block: loads whose results nobody waits for. Only few others are among them, so that the
 * processor has many under way: between the steps of anything else it would have few. A slot's last bytes may be in
 * another line.
 */
export function touch(rows: u32): void {
  const last = max<u32>(slotBytes, 4) - 4;
  let sum: u32 = 0;
  for (let use: u32 = 0; use < copies; use++) {
    let from = at(places, use, 0);
    const end = from + (<usize>rows << 2);
    for (; from < end; from += 4) {
      const slot = <usize>load<u32>(from);
      sum += load<u32>(slot) + load<u32>(slot + last);
    }
  }
  touched = sum;
}

/** How many candidates from `candidate` on have its value; 0 if one before it does. */
function occurrences(candidates: usize, count: u32, candidate: u32): u32 {
  const value = <usize>load<u32>(cell(candidates, candidate));
  for (let other: u32 = 0; other < candidate; other++) {
    if (isSame(<usize>load<u32>(cell(candidates, other)), value, valueBytes)) return 0;
  }
  let found: u32 = 1;
  for (let other = candidate + 1; other < count; other++) {
    found += u32(isSame(<usize>load<u32>(cell(candidates, other)), value, valueBytes));
  }
  return found;
}

/** The most frequent store: two copies of 20 bytes. No branch depends on what the slots hold. */
function decidePairs(from: u32, to: u32, policy: u32): void {
  const statuses = address(STATUS);
  const matchings = address(MATCHING);
  const agreeings = address(AGREEING);
  let answer = address(ANSWERS) + <usize>from * 20;
  for (let row = from; row < to; row++) {
    const index = row - from;
    const word = load<u32>(at(places, 2, index));
    const slot0 = <usize>load<u32>(at(places, 0, index));
    const slot1 = <usize>load<u32>(at(places, 1, index));
    const value0 = slot0 + checksumBytes;
    const value1 = slot1 + checksumBytes;
    const matches0 = u32((load<u32>(slot0) & wordMask) == word);
    // A slot that both hashes choose counts once.
    const matches1 = u32((load<u32>(slot1) & wordMask) == word) & u32(slot0 != slot1);
    const head0 = v128.load(value0);
    const head1 = v128.load(value1);
    const tail0 = load<u32>(value0, 16);
    const tail1 = load<u32>(value1, 16);
    const differs = u32(v128.any_true(v128.xor(head0, head1))) | u32(tail0 != tail1);
    const matching = matches0 + matches1;
    const isTied = matches0 & matches1 & differs;
    const decides = u32(matching >= max<u32>(policy, 1)) & (isTied ^ 1);
    const chosen = i32x4.splat(0 - (matches0 & decides));
    const other = i32x4.splat(0 - ((matches0 ^ 1) & decides));
    v128.store(answer, v128.or(v128.and(head0, chosen), v128.and(head1, other)));
    store<u32>(answer, (tail0 & (0 - (matches0 & decides))) | (tail1 & (0 - ((matches0 ^ 1) & decides))), 16);
    store<u8>(statuses + row, <u8>select<u32>(VALUE, CONFLICT - u32(matching == 0), decides != 0));
    store<u8>(matchings + row, <u8>matching);
    store<u8>(agreeings + row, <u8>(matching & (0 - decides)));
    answer += 20;
  }
}

function decideRow(row: u32, index: u32, policy: u32, answer: usize): void {
  const candidates = address(CANDIDATES);
  const word = load<u32>(at(places, copies, index));
  let count: u32 = 0;
  for (let use: u32 = 0; use < copies; use++) {
    const slot = load<u32>(at(places, use, index));
    if ((load<u32>(<usize>slot) & wordMask) != word) continue;
    // A slot that two hashes choose counts once.
    let other: u32 = 0;
    while (other < count && load<u32>(cell(candidates, other)) != slot + checksumBytes) other++;
    if (other == count) store<u32>(cell(candidates, count++), slot + checksumBytes);
  }
  let most: u32 = min<u32>(count, 1);
  let chosen: u32 = 0;
  let isTied = false;
  if (count > 1) {
    most = 0;
    for (let candidate: u32 = 0; candidate < count; candidate++) {
      const agreeing = occurrences(candidates, count, candidate);
      if (agreeing > most) {
        most = agreeing;
        chosen = candidate;
        isTied = false;
      } else if (agreeing == most) {
        isTied = true;
      }
    }
  }
  const decides = count > 0 && (policy == 0 ? most == count : !isTied && most >= policy);
  if (decides) copy(answer, <usize>load<u32>(cell(candidates, chosen)), valueBytes);
  store<u8>(address(STATUS) + row, decides ? <u8>VALUE : count == 0 ? <u8>ABSENT : <u8>CONFLICT);
  store<u8>(address(MATCHING) + row, <u8>count);
  store<u8>(address(AGREEING) + row, decides ? <u8>most : 0);
}

/** Whether two hashes choose one slot for a row of the block. */
function hasTwins(rows: u32): bool {
  const bytes = <usize>rows << 2;
  let twins = i32x4.splat(0);
  for (let use: u32 = 1; use < copies; use++) {
    for (let other: u32 = 0; other < use; other++) {
      const one = at(places, use, 0);
      const two = at(places, other, 0);
      for (let row: usize = 0; row < bytes; row += 16) {
        twins = v128.or(twins, i32x4.eq(v128.load(one + row), v128.load(two + row)));
      }
    }
  }
  return v128.any_true(twins);
}

/** Values of 20 bytes where no row has one slot twice. Only rows whose slots have values that differ take a branch. */
function decideAgreeing(from: u32, to: u32, policy: u32): void {
  const statuses = address(STATUS);
  const matchings = address(MATCHING);
  const agreeings = address(AGREEING);
  let answer = address(ANSWERS) + <usize>from * 20;
  for (let row = from; row < to; row++) {
    const word = load<u32>(at(places, copies, row - from));
    let matching: u32 = 0;
    let head = i32x4.splat(0);
    let tail: u32 = 0;
    let differing = head;
    for (let use: u32 = 0; use < copies; use++) {
      const slot = <usize>load<u32>(at(places, use, row - from));
      const matches = u32((load<u32>(slot) & wordMask) == word);
      const headThere = v128.load(slot + checksumBytes);
      const tailThere = load<u32>(slot + checksumBytes, 16);
      const isFirst = matches & u32(matching == 0);
      head = v128.or(head, v128.and(headThere, i32x4.splat(0 - isFirst)));
      tail |= tailThere & (0 - isFirst);
      const differs = v128.or(v128.xor(head, headThere), i32x4.splat(tail ^ tailThere));
      differing = v128.or(differing, v128.and(differs, i32x4.splat(0 - matches)));
      matching += matches;
    }
    if (v128.any_true(differing)) {
      decideRow(row, row - from, policy, answer);
    } else {
      const decides = u32(matching >= max<u32>(policy, 1));
      v128.store(answer, v128.and(head, i32x4.splat(0 - decides)));
      store<u32>(answer, tail & (0 - decides), 16);
      store<u8>(statuses + row, <u8>select<u32>(VALUE, CONFLICT - u32(matching == 0), decides != 0));
      store<u8>(matchings + row, <u8>matching);
      store<u8>(agreeings + row, <u8>(matching & (0 - decides)));
    }
    answer += 20;
  }
}

function decideAny(from: u32, to: u32, policy: u32): void {
  let answer = address(ANSWERS) + <usize>from * valueBytes;
  for (let row = from; row < to; row++) {
    decideRow(row, row - from, policy, answer);
    answer += valueBytes;
  }
}

/**
 * Answers the rows whose places have been found.
 *
 * @param policy 0: `single`; else how many slots have to agree
 */
export function decide(from: u32, to: u32, policy: u32): void {
  if (copies == 2 && valueBytes == 20) decidePairs(from, to, policy);
  else if (valueBytes == 20 && !hasTwins(to - from)) decideAgreeing(from, to, policy);
  else decideAny(from, to, policy);
}
