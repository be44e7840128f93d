import { ipv4HeaderChecksum } from '@int/codec/internals';
import { prefixOf } from '@int/network';
import type { ObservedFlow } from './rehearsal.js';

const ETHERNET_BYTES = 14;
const TCP = 6;
const UDP = 17;
const TRANSPORT_BYTES: Readonly<Record<number, number>> = { [TCP]: 20, [UDP]: 8 };
const TTL = 64;
/** Longest frame: a jumbo frame. */
const MOST_BYTES = 9018;
/** A locally administered address of a host that nobody knows more of. */
const UNKNOWN_MAC = [0x02, 0, 0, 0, 0, 0x01];

/** A packet that stands for a flow: its five-tuple, its mean length, zeros as payload. */
export interface Representative {
  readonly frame: Uint8Array;
  /** 4 or 16 bytes. */
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
}

/** The packet for a flow; `null`: its addresses are not readable, or not of one version. */
export function representativeOf(flow: ObservedFlow): Representative | null {
  const [source, destination] = [addressOf(flow.source), addressOf(flow.destination)];
  if (source === null || destination === null || source.length !== destination.length) return null;
  const isV4 = source.length === 4;
  const ipBytes = isV4 ? 20 : 40;
  const transport = ETHERNET_BYTES + ipBytes;
  const least = transport + (TRANSPORT_BYTES[flow.protocol] ?? 0);
  const mean = flow.packets > 0 ? Math.round(flow.bytes / flow.packets) : 0;
  const frame = new Uint8Array(Math.min(MOST_BYTES, Math.max(least, mean)));
  const view = new DataView(frame.buffer);
  frame.set(UNKNOWN_MAC, 0);
  frame.set(UNKNOWN_MAC, 6);
  if (isV4) {
    view.setUint16(12, 0x0800);
    frame[14] = 0x45;
    view.setUint16(16, frame.length - ETHERNET_BYTES);
    frame[22] = TTL;
    frame[23] = flow.protocol;
    frame.set(source, 26);
    frame.set(destination, 30);
    view.setUint16(24, ipv4HeaderChecksum(frame, ETHERNET_BYTES));
  } else {
    view.setUint16(12, 0x86dd);
    frame[14] = 0x60;
    view.setUint16(18, frame.length - transport);
    frame[20] = flow.protocol;
    frame[21] = TTL;
    frame.set(source, 22);
    frame.set(destination, 38);
  }
  if (flow.protocol === UDP || flow.protocol === TCP) {
    view.setUint16(transport, flow.sourcePort);
    view.setUint16(transport + 2, flow.destinationPort);
  }
  if (flow.protocol === UDP) view.setUint16(transport + 4, frame.length - transport);
  if (flow.protocol === TCP) frame[transport + 12] = 0x50;
  return { frame, source, destination };
}

function addressOf(text: string): Uint8Array | null {
  const prefix = prefixOf(text);
  return prefix === null || prefix.length !== 8 * prefix.bytes.length ? null : prefix.bytes;
}
