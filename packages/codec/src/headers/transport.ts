/** UDP (RFC 768) and TCP (RFC 9293). */
import { CodecError } from '../errors.js';
import {
  FieldGroup,
  type FixedHeaderCodec,
  fixedHeader,
  type HeaderCodec,
  makeCodec,
  requireBytes,
  requireSize,
} from './codec.js';

/** UDP header, 8 bytes. */
export interface Udp {
  /** 16 bits. */
  sourcePort: number;
  /** 16 bits. */
  destinationPort: number;
  /** 16 bits, bytes: header and payload. As carried, not checked. */
  length: number;
  /** 16 bits, as carried; 0 = none. `udpChecksum` computes one. */
  checksum: number;
}

/** {@link Udp} header. */
export const udp: FixedHeaderCodec<Udp> = /* @__PURE__ */ fixedHeader<Udp>('udp', [
  ['sourcePort', 16],
  ['destinationPort', 16],
  ['length', 16],
  ['checksum', 16],
]);

/** Bits of {@link Tcp.flags}. */
export const TCP_FLAG = { FIN: 1, SYN: 2, RST: 4, PSH: 8, ACK: 16, URG: 32, ECE: 64, CWR: 128 } as const;

/** TCP header, 20 to 60 bytes. The data offset follows from `options`. */
export interface Tcp {
  /** 16 bits. */
  sourcePort: number;
  /** 16 bits. */
  destinationPort: number;
  /** 32 bits. */
  sequenceNumber: number;
  /** 32 bits. */
  acknowledgementNumber: number;
  /** 4 bits. */
  reserved: number;
  /** 8 bits, CWR, ECE, URG, ACK, PSH, RST, SYN, FIN from bit 7 on. */
  flags: number;
  /** 16 bits. */
  window: number;
  /** 16 bits, as carried; `tcpChecksum` computes one. */
  checksum: number;
  /** 16 bits. */
  urgentPointer: number;
  /** As carried: a multiple of 4 bytes, at most 40. */
  options: Uint8Array;
}

type TcpFixed = Omit<Tcp, 'options'>;
const TCP = /* @__PURE__ */ new FieldGroup<TcpFixed>('tcp', [
  ['sourcePort', 16],
  ['destinationPort', 16],
  ['sequenceNumber', 32],
  ['acknowledgementNumber', 32],
  [null, 4],
  ['reserved', 4],
  ['flags', 8],
  ['window', 16],
  ['checksum', 16],
  ['urgentPointer', 16],
]);

/** {@link Tcp} header. Errors: `BAD_TCP_LENGTH` (data offset below 5 words). */
export const tcp: HeaderCodec<Tcp> = /* @__PURE__ */ makeCodec<Tcp>({
  layer: 'tcp',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 20, 'tcp');
    const fields = TCP.read(bytes, offset);
    const length = (bytes[offset + 12]! >>> 4) * 4;
    if (length < 20) throw new CodecError('BAD_TCP_LENGTH', 'tcp', offset + 12, `data offset ${length} bytes`);
    requireBytes(bytes, offset, length, 'tcp');
    return Object.assign(fields, { options: bytes.subarray(offset + 20, offset + length) });
  },
  measure(value) {
    requireSize('options', value.options, 4, 40);
    return 20 + value.options.length;
  },
  check: (value) => TCP.check(value),
  write(value, out, offset) {
    TCP.write(value, out, offset);
    out[offset + 12]! |= (5 + value.options.length / 4) << 4;
    out.set(value.options, offset + 20);
  },
});
