/** xxh32 of flow keys: 13 bytes of IPv4, 37 of IPv6. A lane is four bytes of the key, read little-endian. */

import { address, cell, field } from './context';
import * as block from './context';

const P1: u32 = 0x9e3779b1;
const P2: u32 = 0x85ebca77;
const P3: u32 = 0xc2b2ae3d;
const P4: u32 = 0x27d4eb2f;
const P5: u32 = 0x165667b1;

@inline
function swap(x: u32): u32 {
  return (rotl<u32>(x, 8) & 0x00ff00ff) | (rotl<u32>(x, 24) & 0xff00ff00);
}

@inline
function mixLane(hash: u32, lane: u32): u32 {
  return rotl<u32>(hash + lane * P3, 17) * P4;
}

@inline
function round(accumulator: u32, lane: u32): u32 {
  return rotl<u32>(accumulator + lane * P2, 13) * P1;
}

/** Protocol and ports, and the mixing at the end. */
@inline
function finish(hash: u32, protocol: u32, ports: u32): u32 {
  let mixed = mixLane(hash, (swap(ports) << 8) | protocol);
  mixed = rotl<u32>(mixed + (ports & 0xff) * P5, 11) * P1;
  mixed = (mixed ^ (mixed >> 15)) * P2;
  mixed = (mixed ^ (mixed >> 13)) * P3;
  return mixed ^ (mixed >> 16);
}

function hashOne(row: u32): u32 {
  const stride = address(block.REPORT_STRIDE);
  const source = cell(address(block.SOURCE), row);
  const destination = cell(address(block.DESTINATION), row);
  const seed = field(block.SEED);
  const ports = load<u32>(cell(address(block.PORTS), row));
  const protocol = <u32>load<u8>(address(block.PROTOCOL) + row);
  const first = swap(load<u32>(source));
  const second = swap(load<u32>(destination));
  if ((load<u32>(cell(address(block.FLAGS), row)) & block.FLAG_IPV6) == 0) {
    return finish(mixLane(mixLane(seed + P5 + 13, first), second), protocol, ports);
  }
  const a = round(round(seed + P1 + P2, first), second);
  const b = round(round(seed + P2, swap(load<u32>(source + stride))), swap(load<u32>(destination + stride)));
  const c = round(round(seed, swap(load<u32>(source + 2 * stride))), swap(load<u32>(destination + 2 * stride)));
  const d = round(round(seed - P1, swap(load<u32>(source + 3 * stride))), swap(load<u32>(destination + 3 * stride)));
  const hash = rotl<u32>(a, 1) + rotl<u32>(b, 7) + rotl<u32>(c, 12) + rotl<u32>(d, 18);
  return finish(hash + 37, protocol, ports);
}

@inline
function swapLanes(x: v128): v128 {
  return v128.shuffle<u8>(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

@inline
function rotateLanes(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}

@inline
function mixLanes(hash: v128, lane: v128, p3: v128, p4: v128): v128 {
  return i32x4.mul(rotateLanes(i32x4.add(hash, i32x4.mul(lane, p3)), 17), p4);
}

@inline
function roundLanes(accumulator: v128, lane: v128, p2: v128, p1: v128): v128 {
  return i32x4.mul(rotateLanes(i32x4.add(accumulator, i32x4.mul(lane, p2)), 13), p1);
}

/** One of the four accumulators of two stripes. `first` and `second` are where their words are. */
@inline
function accumulate(seed: u32, first: usize, second: usize, p2: v128, p1: v128): v128 {
  const lane = swapLanes(v128.load(first));
  return roundLanes(roundLanes(i32x4.splat(seed), lane, p2, p1), swapLanes(v128.load(second)), p2, p1);
}

/** Hashes rows. The hash of a row without a flow is never used. */
export function hashRows(from: u32, to: u32): void {
  const hashes = address(block.HASHES) - (<usize>from << 2);
  const flags = address(block.FLAGS);
  const sources = address(block.SOURCE);
  const destinations = address(block.DESTINATION);
  const stride = address(block.REPORT_STRIDE);
  const protocols = address(block.PROTOCOL);
  const portsAt = address(block.PORTS);
  const seed = field(block.SEED);
  const ipv6 = i32x4.splat(block.FLAG_IPV6);
  const p1 = i32x4.splat(P1);
  const p2 = i32x4.splat(P2);
  const p3 = i32x4.splat(P3);
  const p4 = i32x4.splat(P4);
  const p5 = i32x4.splat(P5);
  const lowByte = i32x4.splat(0xff);
  let row = from;
  for (; row + 4 <= to; row += 4) {
    const source = cell(sources, row);
    const destination = cell(destinations, row);
    const ports = v128.load(cell(portsAt, row));
    const bytes = v128.load_zero<u32>(protocols + row);
    const protocol = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes));
    const isLong = i32x4.eq(v128.and(v128.load(cell(flags, row)), ipv6), ipv6);
    let h = mixLanes(i32x4.splat(seed + P5 + 13), swapLanes(v128.load(source)), p3, p4);
    h = mixLanes(h, swapLanes(v128.load(destination)), p3, p4);
    // Four rows of both kinds are hashed in both ways: their kinds cannot be predicted.
    if (v128.any_true(isLong)) {
      const a = accumulate(seed + P1 + P2, source, destination, p2, p1);
      const b = accumulate(seed + P2, source + stride, destination + stride, p2, p1);
      const c = accumulate(seed, source + 2 * stride, destination + 2 * stride, p2, p1);
      const d = accumulate(seed - P1, source + 3 * stride, destination + 3 * stride, p2, p1);
      const ab = i32x4.add(rotateLanes(a, 1), rotateLanes(b, 7));
      const cd = i32x4.add(rotateLanes(c, 12), rotateLanes(d, 18));
      h = v128.bitselect(i32x4.add(i32x4.add(ab, cd), i32x4.splat(37)), h, isLong);
    }
    h = mixLanes(h, v128.or(i32x4.shl(swapLanes(ports), 8), protocol), p3, p4);
    h = i32x4.mul(rotateLanes(i32x4.add(h, i32x4.mul(v128.and(ports, lowByte), p5)), 11), p1);
    h = i32x4.mul(v128.xor(h, i32x4.shr_u(h, 15)), p2);
    h = i32x4.mul(v128.xor(h, i32x4.shr_u(h, 13)), p3);
    v128.store(cell(hashes, row), v128.xor(h, i32x4.shr_u(h, 16)));
  }
  for (; row < to; row++) store<u32>(cell(hashes, row), hashOne(row));
}
