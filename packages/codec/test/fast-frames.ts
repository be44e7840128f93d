/** Builds reports of the fast path's shape, and near misses of it, for the tests of `src/fast`. */

/** Words of instruction bit 0 to 15 in INT v2 (wire-format section 5.1). */
const WORDS = [1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/** Words of one hop's block. */
export function blockWords(bitmap: number): number {
  return WORDS.reduce((sum, words, bit) => sum + (bitmap & (0x8000 >>> bit) ? words : 0), 0);
}

/** A report to build; each value is one that goes onto the wire as it is. */
export interface FrameSpec {
  readonly bitmap: number;
  readonly hops: number;
  /** RepMdBits; the node's own words follow from it. */
  readonly reportBits?: number;
  /** 3 Ethernet, 4 IPv4. */
  readonly inType?: number;
  /** D, Q, F, I and reserved bits. */
  readonly reportFlags?: number;
  readonly hwId?: number;
  readonly sequence?: number;
  readonly nodeId?: number;
  /**
   * What carries INT: the flow's UDP or TCP header, or a new UDP header to `intPort`, with the flow's own header behind the
   * stack. Default `udp`.
   */
  readonly transport?: 'udp' | 'tcp' | 'new-udp';
  /** Words of the TCP header. */
  readonly tcpWords?: number;
  /** Protocol of the flow behind a new UDP header. */
  readonly innerProtocol?: number;
  /** Over UDP; 1: destination port `intPort`; 0: `tos` marks and the port is `destinationPort`. */
  readonly npt?: number;
  readonly intPort?: number;
  readonly tos?: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly source?: number;
  readonly destination?: number;
  /** D, E, M as a three-bit number. */
  readonly mdFlags?: number;
  readonly remaining?: number;
  /** Bytes behind the stack; rounded up to words. */
  readonly tail?: number;
  /** Added to the IPv4 total length: as of a truncated packet. */
  readonly cut?: number;
  /** Value of word `index` of the block `block` (0 = first on the wire); own words are block -1. */
  readonly word?: (block: number, index: number) => number;
}

/** Builds the UDP payload of one report. */
export function buildReport(spec: FrameSpec): Uint8Array {
  const inType = spec.inType ?? 3;
  const reportBits = spec.reportBits ?? 0;
  const own = blockWords(reportBits);
  const block = blockWords(spec.bitmap);
  const ip = 20 + 4 * own + (inType === 3 ? 14 : 0);
  const transport = spec.transport ?? 'udp';
  const shim = ip + 20 + (transport === 'tcp' ? 4 * (spec.tcpWords ?? 5) : 8);
  const stack = shim + 16;
  const intEnd = stack + 4 * block * spec.hops;
  const end = intEnd + (transport === 'new-udp' ? 8 : 0) + (spec.tail ?? 0);
  // Ethernet leaves the packet two bytes off a word; reports are whole words.
  const size = 12 + Math.ceil((end - 12) / 4) * 4;
  const word = spec.word ?? ((b, i) => Math.imul(b * 31 + i + 7, 0x9e3779b1) >>> 0);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, ((2 << 28) | ((spec.hwId ?? 5) << 22) | (spec.sequence ?? 1)) >>> 0);
  view.setUint32(4, spec.nodeId ?? 0x01020304);
  view.setUint8(8, 0x10 | inType);
  view.setUint8(9, (size - 12) / 4);
  view.setUint8(10, own);
  view.setUint8(11, spec.reportFlags ?? 0x20);
  view.setUint16(12, reportBits);
  for (let k = 0; k < own; k++) view.setUint32(20 + 4 * k, word(-1, k));
  if (inType === 3) view.setUint16(ip - 2, 0x0800);
  const npt = transport === 'tcp' ? 0 : transport === 'new-udp' ? 2 : (spec.npt ?? 1);
  const port = spec.destinationPort ?? 443;
  view.setUint8(ip, 0x45);
  view.setUint8(ip + 1, spec.tos ?? 0);
  view.setUint16(ip + 2, end - ip + (spec.cut ?? 0));
  view.setUint8(ip + 8, 64);
  view.setUint8(ip + 9, transport === 'tcp' ? 6 : 17);
  view.setUint32(ip + 12, spec.source ?? 0x0a000001);
  view.setUint32(ip + 16, spec.destination ?? 0x0a000002);
  view.setUint16(ip + 20, spec.sourcePort ?? 40000);
  view.setUint16(ip + 22, npt === 0 ? port : (spec.intPort ?? 5000));
  if (transport === 'tcp') view.setUint8(ip + 32, (spec.tcpWords ?? 5) << 4);
  else view.setUint16(ip + 24, end - ip - 20 + (spec.cut ?? 0));
  view.setUint8(shim, 0x10 | (npt << 2));
  view.setUint8(shim + 1, 3 + block * spec.hops);
  if (npt === 1) view.setUint16(shim + 2, port);
  view.setUint8(shim + 4, 0x20 | ((spec.mdFlags ?? 0) << 1));
  view.setUint8(shim + 6, block);
  view.setUint8(shim + 7, spec.remaining ?? 8);
  view.setUint16(shim + 8, spec.bitmap);
  if (transport === 'new-udp') {
    view.setUint8(shim + 3, spec.innerProtocol ?? 6);
    view.setUint16(intEnd, spec.sourcePort ?? 40000);
    view.setUint16(intEnd + 2, port);
  }
  for (let b = 0; b < spec.hops; b++) {
    for (let k = 0; k < block; k++) view.setUint32(stack + 4 * (b * block + k), word(b, k));
  }
  return bytes;
}

/** Puts a UDP payload into an Ethernet, IPv4 and UDP frame. */
export function wrapEthernet(payload: Uint8Array, port: number, padding = 0, tos = 0): Uint8Array {
  const bytes = new Uint8Array(42 + payload.length + padding);
  const view = new DataView(bytes.buffer);
  view.setUint16(12, 0x0800);
  view.setUint8(14, 0x45);
  view.setUint8(15, tos);
  view.setUint16(16, 28 + payload.length);
  view.setUint8(22, 64);
  view.setUint8(23, 17);
  view.setUint32(26, 0x0a0a0a0a);
  view.setUint32(30, 0x0b0b0b0b);
  view.setUint16(34, 3333);
  view.setUint16(36, port);
  view.setUint16(38, 8 + payload.length);
  bytes.set(payload, 42);
  return bytes;
}

/** Frames behind one another in one buffer, with `gap` bytes in front of each. */
export function layOut(
  frames: readonly Uint8Array[],
  gap = 0,
): { bytes: Uint8Array; offsets: Uint32Array; lengths: Uint32Array } {
  const offsets = new Uint32Array(frames.length);
  const lengths = new Uint32Array(frames.length);
  let size = 0;
  frames.forEach((frame, index) => {
    offsets[index] = size + gap;
    lengths[index] = frame.length;
    size += gap + frame.length;
  });
  const bytes = new Uint8Array(size);
  frames.forEach((frame, index) => {
    bytes.set(frame, offsets[index]!);
  });
  return { bytes, offsets, lengths };
}
