/** Frames of TCP and UDP as hosts send them: headers, and a payload of zeros. */
import { labelledFrame } from '@int/netsim';

export const FLAG = { FIN: 1, SYN: 2, RST: 4, ACK: 16 } as const;

export interface Packet {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** TCP flags; `null`: UDP. */
  readonly flags: number | null;
  /** Bytes behind the headers. */
  readonly payload?: number;
}

/** A whole frame, as long as its packet says. */
export function frameOf({ flags, payload = 0, ...ends }: Packet): Uint8Array {
  const headers = flags === null ? 28 : 40;
  const lengthBytes = headers + payload;
  const protocol = flags === null ? 17 : 6;
  const short = labelledFrame({ ...ends, timeMs: 0, protocol, tcpFlags: flags ?? 0, lengthBytes, isHarmful: false });
  const frame = new Uint8Array(14 + lengthBytes);
  frame.set(short);
  return frame;
}

/** The packet in a frame; `null`: it is no IPv4 with TCP. */
export function tcpOf(frame: Uint8Array): Packet | null {
  if (frame.length < 54 || frame[12] !== 8 || frame[13] !== 0 || frame[14] !== 0x45 || frame[23] !== 6) return null;
  const word = (at: number): number => (frame[at]! << 8) | frame[at + 1]!;
  const address = (at: number): string => [...frame.subarray(at, at + 4)].join('.');
  return {
    ...{ source: address(26), destination: address(30), sourcePort: word(34), destinationPort: word(36) },
    ...{ flags: frame[47]!, payload: word(16) - 40 },
  };
}
