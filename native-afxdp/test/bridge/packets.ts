import { encodeFrame, type Flow, type SourceConfig, source, telemetry, transit } from '@int/codec';

/** A packet of a flow as its host sends it, and as it leaves the last switch. */
export interface Sent {
  readonly packet: Uint8Array;
  /** With INT, or the packet itself. */
  readonly frame: Uint8Array;
  readonly hops: number;
}

/** What differs from packet to packet. */
export interface Shape {
  readonly name: string;
  readonly protocol: 6 | 17 | 47;
  readonly version: 4 | 6;
  readonly tags: readonly number[];
  readonly payload: number;
  /** `null`: no INT. */
  readonly config: SourceConfig | null;
  /** Destination port; a tunnel's has a meaning. */
  readonly port?: number;
}

/** Node id, hop latency, queue occupancy. */
const instructions = 0xb000;
const V4 = { version: 4, tags: [], payload: 64 } as const;

/** Every way INT is carried that needs no option to be found. */
export const SHAPES: readonly Shape[] = [
  { name: 'no INT', protocol: 17, ...V4, config: null },
  { name: 'no INT, TCP', protocol: 6, ...V4, config: null },
  { name: 'by port', protocol: 17, ...V4, config: { instructions } },
  { name: 'by port, large', protocol: 17, ...V4, payload: 1300, config: { instructions } },
  { name: 'by port, IPv6', protocol: 17, ...V4, version: 6, config: { instructions } },
  { name: 'by port, tagged twice', protocol: 17, ...V4, tags: [0x88a8, 0x8100], config: { instructions } },
  { name: 'by port, version 0.5', protocol: 17, ...V4, config: { instructions, version: '0.5' } },
  { name: 'by DSCP', protocol: 17, ...V4, config: { instructions, encapsulation: 'dscp' } },
  { name: 'by DSCP, TCP', protocol: 6, ...V4, config: { instructions, encapsulation: 'dscp' } },
  { name: 'by DSCP, TCP, IPv6', protocol: 6, ...V4, version: 6, config: { instructions, encapsulation: 'dscp' } },
  {
    name: 'by DSCP, version 1.0',
    protocol: 17,
    ...V4,
    config: { instructions, encapsulation: 'dscp', version: '1.0' },
  },
  { name: 'UDP header of its own', protocol: 6, ...V4, config: { instructions, encapsulation: 'new-udp' } },
  { name: 'GRE of its own', protocol: 17, ...V4, config: { instructions, encapsulation: 'gre-new' } },
  { name: 'VXLAN-GPE', protocol: 17, ...V4, port: 4790, config: { instructions, encapsulation: 'vxlan-gpe' } },
  { name: 'Geneve', protocol: 17, ...V4, port: 6081, config: { instructions, encapsulation: 'geneve' } },
];

/** The flow of a shape's packets, one of `flows`. */
export function flowOf({ protocol, version, port = 80 }: Shape, number: number): Flow {
  const [source, destination] = version === 4 ? ['10.77.0.1', '10.77.0.2'] : ['fd77::1', 'fd77::2'];
  return { source, destination, protocol, sourcePort: 20_000 + number, destinationPort: port };
}

/** A VXLAN-GPE or Geneve header, and a packet of another flow in it. */
function tunnelled(port: number, inside: Uint8Array): Uint8Array {
  const header = port === 4790 ? [0x0c, 0, 0, 3, 0, 0, 7, 0] : [0, 0, 0x65, 0x58, 0, 0, 7, 0];
  return Uint8Array.from([...header, ...inside]);
}

function sum(bytes: Uint8Array): number {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 2) total += (bytes[at]! << 8) | (bytes[at + 1] ?? 0);
  while (total > 0xffff) total = (total & 0xffff) + (total >>> 16);
  return total;
}

/** The host's packet, with tags, payload and right checksums. */
function hostPacket(shape: Shape, number: number): Uint8Array {
  const flow = flowOf(shape, number);
  const bare = encodeFrame(telemetry({ flow, report: null }));
  const inside = encodeFrame(telemetry({ flow: { ...flow, destinationPort: 99 }, report: null }));
  const payload =
    shape.port === undefined
      ? Uint8Array.from({ length: shape.payload }, (_, index) => index + number)
      : tunnelled(shape.port, inside);
  const l4 = 14 + (shape.version === 4 ? 20 : 40);
  const header = bare.subarray(0, l4 + (shape.protocol === 6 ? 20 : 8));
  const packet = Buffer.concat([header, payload]);
  const length = packet.length - l4;
  if (shape.version === 4) {
    packet.writeUInt16BE(packet.length - 14, 16);
    packet.writeUInt16BE(0, 24);
    packet.writeUInt16BE(~sum(packet.subarray(14, 34)) & 0xffff, 24);
  } else packet.writeUInt16BE(length, 18);
  if (shape.protocol === 17) packet.writeUInt16BE(length, l4 + 4);
  const field = l4 + (shape.protocol === 6 ? 16 : 6);
  packet.writeUInt16BE(0, field);
  const addresses = packet.subarray(shape.version === 4 ? 26 : 22, l4);
  const pseudo = Buffer.concat([addresses, Buffer.from([0, shape.protocol, length >>> 8, length & 0xff])]);
  packet.writeUInt16BE(~sum(Buffer.concat([pseudo, packet.subarray(l4)])) & 0xffff || 0xffff, field);
  const type = packet.readUInt16BE(12);
  const tags = shape.tags.flatMap((_, depth) => {
    const next = shape.tags[depth + 1] ?? type;
    return [0x20, 10 + depth, next >>> 8, next & 0xff];
  });
  if (tags.length === 0) return packet;
  packet.writeUInt16BE(shape.tags[0]!, 12);
  return Buffer.concat([packet.subarray(0, 14), Uint8Array.from(tags), packet.subarray(14)]);
}

/** Packet `number` of a shape, with so many hops of INT; the hop latency of hop h is `latency + h`. */
export function sent(shape: Shape, number: number, hops: number, latency = 100): Sent {
  const packet = hostPacket(shape, number);
  if (shape.config === null) return { packet, frame: packet, hops: 0 };
  let frame = packet;
  for (let hop = 1; hop <= hops; hop++) {
    const metadata = { nodeId: hop, hopLatency: latency + hop, queueId: 0, queueOccupancy: hop };
    const result = hop === 1 ? source(frame, shape.config, metadata) : transit(frame, shape.config, metadata);
    if (!result.pushed) throw new Error(`${shape.name}: ${result.reason}`);
    frame = result.packet;
  }
  return { packet, frame, hops };
}
