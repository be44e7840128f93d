/** Reads the flow and the time of a report from a row of the batch. */

import { cell } from './context';
import * as block from './context';
import * as layout from './layout';

/** From the flag of a report to the bit in META. */
const FAMILY_SHIFT: u32 = 11;

@inline
function at(column: u32, row: u32): u32 {
  return load<u32>(cell(<usize>column, row));
}

/** META's bit for IPv6, of a report. */
@inline
function familyOf(context: usize, row: u32): u32 {
  return (at(load<u32>(context, block.FLAGS), row) >> FAMILY_SHIFT) & layout.META_IPV6;
}

/** The four words of an address; those of IPv4 but the first are 0. Without branches on what cannot be predicted. */
@inline
/**
 * The four words of an address; of an IPv4 address, all but the first are 0. No branch depends on the IP version of a
 * report.
 */
function fourWords(context: usize, column: u32, row: u32): v128 {
  const first = cell(<usize>column, row);
  let words = v128.load_zero<u32>(first);
  if (load<u32>(context, block.HAS_IPV6) != 0) {
    const stride = <usize>load<u32>(context, block.REPORT_STRIDE);
    words = v128.load_lane<u32>(first + stride, words, 1);
    words = v128.load_lane<u32>(first + 2 * stride, words, 2);
    words = v128.load_lane<u32>(first + 3 * stride, words, 3);
    const isLong = i32x4.splat(0 - <i32>(familyOf(context, row) >> 8));
    words = v128.and(words, i32x4.replace_lane(isLong, 0, -1));
  }
  return words;
}

@inline
export function sourceOf(context: usize, row: u32): v128 {
  return fourWords(context, load<u32>(context, block.SOURCE), row);
}

@inline
export function destinationOf(context: usize, row: u32): v128 {
  return fourWords(context, load<u32>(context, block.DESTINATION), row);
}

/** The words PORTS and META of a new bucket. */
@inline
export function portsAndMeta(context: usize, row: u32): u64 {
  const protocol = <u32>load<u8>(<usize>load<u32>(context, block.PROTOCOL) + row) | familyOf(context, row);
  return <u64>at(load<u32>(context, block.PORTS), row) | (<u64>protocol << 32);
}

@inline
export function timeOf(context: usize, row: u32): u64 {
  const index: u32 = at(load<u32>(context, block.TIME_INDEX), row) - load<u32>(context, block.TIME_BASE);
  return <u64>at(load<u32>(context, block.TIMES_LOW), index) | (<u64>at(load<u32>(context, block.TIMES_HIGH), index) << 32);
}

/** Where a report's flow and that of a bucket differ: bits, in any lane. */
@inline
export function keyDifference(isExact: bool, context: usize, row: u32, bucket: usize): v128 {
  const key: u64 = (<u64>layout.META_KEY << 32) | 0xffffffff;
  const rest = portsAndMeta(context, row);
  if (isExact) {
    const sources = v128.xor(v128.load(bucket), sourceOf(context, row));
    const destinations = v128.xor(v128.load(bucket, layout.EXACT_DESTINATION), destinationOf(context, row));
    return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, layout.EXACT_PORTS) & key) ^ rest));
  }
  const source = cell(<usize>load<u32>(context, block.SOURCE), row);
  const sources = v128.xor(v128.load_zero<u32>(bucket), v128.load_zero<u32>(source));
  const destination = cell(<usize>load<u32>(context, block.DESTINATION), row);
  const destinations = v128.xor(v128.load_zero<u32>(bucket, 4), v128.load_zero<u32>(destination));
  return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, layout.COMPACT_PORTS) & key) ^ rest));
}
