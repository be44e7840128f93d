/** What a row of the batch says of a report: whose it is, and when it came. */

import {
  cell,
  DESTINATION,
  FLAGS,
  HAS_IPV6,
  PORTS,
  PROTOCOL,
  REPORT_STRIDE,
  SOURCE,
  TIME_BASE,
  TIME_INDEX,
  TIMES_HIGH,
  TIMES_LOW,
} from './context';
import { COMPACT_PORTS, EXACT_DESTINATION, EXACT_PORTS, META_IPV6, META_KEY } from './layout';

/** From the flag of a report to the bit in META. */
const FAMILY_SHIFT: u32 = 11;

@inline
function at(column: u32, row: u32): u32 {
  return load<u32>(cell(<usize>column, row));
}

/** META's bit for IPv6, of a report. */
@inline
function familyOf(context: usize, row: u32): u32 {
  return (at(load<u32>(context, FLAGS), row) >> FAMILY_SHIFT) & META_IPV6;
}

/** The four words of an address; those of IPv4 but the first are 0. Without branches on what cannot be predicted. */
@inline
function fourWords(context: usize, column: u32, row: u32): v128 {
  const first = cell(<usize>column, row);
  let words = v128.load_zero<u32>(first);
  if (load<u32>(context, HAS_IPV6) != 0) {
    const stride = <usize>load<u32>(context, REPORT_STRIDE);
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
  return fourWords(context, load<u32>(context, SOURCE), row);
}

@inline
export function destinationOf(context: usize, row: u32): v128 {
  return fourWords(context, load<u32>(context, DESTINATION), row);
}

/** The words PORTS and META of a new bucket. */
@inline
export function portsAndMeta(context: usize, row: u32): u64 {
  const protocol = <u32>load<u8>(<usize>load<u32>(context, PROTOCOL) + row) | familyOf(context, row);
  return <u64>at(load<u32>(context, PORTS), row) | (<u64>protocol << 32);
}

@inline
export function timeOf(context: usize, row: u32): u64 {
  const index: u32 = at(load<u32>(context, TIME_INDEX), row) - load<u32>(context, TIME_BASE);
  return <u64>at(load<u32>(context, TIMES_LOW), index) | (<u64>at(load<u32>(context, TIMES_HIGH), index) << 32);
}

/** Where a report's flow and that of a bucket differ: bits, in any lane. */
@inline
export function keyDifference(isExact: bool, context: usize, row: u32, bucket: usize): v128 {
  const key: u64 = (<u64>META_KEY << 32) | 0xffffffff;
  const rest = portsAndMeta(context, row);
  if (isExact) {
    const sources = v128.xor(v128.load(bucket), sourceOf(context, row));
    const destinations = v128.xor(v128.load(bucket, EXACT_DESTINATION), destinationOf(context, row));
    return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, EXACT_PORTS) & key) ^ rest));
  }
  const source = cell(<usize>load<u32>(context, SOURCE), row);
  const sources = v128.xor(v128.load_zero<u32>(bucket), v128.load_zero<u32>(source));
  const destination = cell(<usize>load<u32>(context, DESTINATION), row);
  const destinations = v128.xor(v128.load_zero<u32>(bucket, 4), v128.load_zero<u32>(destination));
  return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, COMPACT_PORTS) & key) ^ rest));
}
