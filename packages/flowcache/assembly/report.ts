/** What a row of the batch says of a report: whose it is, and when it came. */

import {
  cell,
  DESTINATION,
  FLAG_IPV6,
  FLAGS,
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

@inline
function at(column: u32, row: u32): u32 {
  return load<u32>(cell(<usize>column, row));
}

@inline
export function isIpv6(context: usize, row: u32): bool {
  return (at(load<u32>(context, FLAGS), row) & FLAG_IPV6) != 0;
}

@inline
function fourWords(column: u32, stride: u32, row: u32, isLong: bool): v128 {
  const first = cell(<usize>column, row);
  let words = v128.load_zero<u32>(first);
  if (isLong) {
    words = v128.load_lane<u32>(first + stride, words, 1);
    words = v128.load_lane<u32>(first + 2 * stride, words, 2);
    words = v128.load_lane<u32>(first + 3 * stride, words, 3);
  }
  return words;
}

/** The four words of the source address; those of IPv4 but the first are 0. */
@inline
export function sourceOf(context: usize, row: u32, isLong: bool): v128 {
  return fourWords(load<u32>(context, SOURCE), load<u32>(context, REPORT_STRIDE), row, isLong);
}

@inline
export function destinationOf(context: usize, row: u32, isLong: bool): v128 {
  return fourWords(load<u32>(context, DESTINATION), load<u32>(context, REPORT_STRIDE), row, isLong);
}

/** The words PORTS and META of a new bucket. */
@inline
export function portsAndMeta(context: usize, row: u32, isLong: bool): u64 {
  const protocol = <u32>load<u8>(<usize>load<u32>(context, PROTOCOL) + row) | (isLong ? META_IPV6 : 0);
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
  const isLong = isExact && isIpv6(context, row);
  const source = sourceOf(context, row, isLong);
  const destination = destinationOf(context, row, isLong);
  const rest = portsAndMeta(context, row, isLong);
  if (isExact) {
    const sources = v128.xor(v128.load(bucket), source);
    const destinations = v128.xor(v128.load(bucket, EXACT_DESTINATION), destination);
    return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, EXACT_PORTS) & key) ^ rest));
  }
  const sources = v128.xor(v128.load_zero<u32>(bucket), source);
  const destinations = v128.xor(v128.load_zero<u32>(bucket, 4), destination);
  return v128.or(v128.or(sources, destinations), i64x2.splat((load<u64>(bucket, COMPACT_PORTS) & key) ^ rest));
}
