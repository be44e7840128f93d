/** Bytes before the report: Ethernet, IPv4, UDP. */
const ETHERNET = 14;
const IPV4 = 20;
const UDP = 8;
const REPORT_FRAME_OVERHEAD = ETHERNET + IPV4 + UDP;

const COLLECTOR = 0x0aff_fffe;
const REPORT_PORT = 32_766;
const SOURCE_PORT = 49_152;
/** Offset of the node id in the report versions that have one (v1.0, v2.0). */
const NODE_OFFSET = 4;

/**
 * Makes the Ethernet frame in which a switch sends a telemetry report: from 10.255.x.y, where x.y is the lower half of
 * its node id, to 10.255.255.254, port 32766. The UDP checksum is 0, unused (RFC 768).
 */
export function reportFrame(bytes: Uint8Array, offset: number, length: number): Uint8Array {
  const frame = new Uint8Array(REPORT_FRAME_OVERHEAD + length);
  const view = new DataView(frame.buffer);
  const source = 0x0aff_0000 | (bytes[offset + NODE_OFFSET + 2]! << 8) | bytes[offset + NODE_OFFSET + 3]!;
  // Locally administered addresses: 02:00 and the IPv4 address.
  view.setUint16(0, 0x0200);
  view.setUint32(2, COLLECTOR);
  view.setUint16(6, 0x0200);
  view.setUint32(8, source);
  view.setUint16(12, 0x0800);
  const total = IPV4 + UDP + length;
  view.setUint32(14, 0x4500_0000 | total);
  view.setUint32(18, 0x0000_4000);
  view.setUint32(22, 0x4011_0000);
  view.setUint32(26, source);
  view.setUint32(30, COLLECTOR);
  let sum = 0;
  for (let at = ETHERNET; at < ETHERNET + IPV4; at += 2) sum += view.getUint16(at);
  sum = (sum & 0xffff) + (sum >>> 16);
  view.setUint16(24, ~(sum + (sum >>> 16)) & 0xffff);
  view.setUint32(34, ((SOURCE_PORT << 16) | REPORT_PORT) >>> 0);
  view.setUint16(38, UDP + length);
  frame.set(bytes.subarray(offset, offset + length), REPORT_FRAME_OVERHEAD);
  return frame;
}
