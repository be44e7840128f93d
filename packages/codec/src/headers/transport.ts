/** UDP (RFC 768) and TCP (RFC 9293). */
import { FieldGroup, fixedHeader, type HeaderOf, headerWithTail } from './codec.js';

/**
 * UDP header, 8 bytes. 16 bits: `sourcePort`, `destinationPort`.
 * @interface
 */
export type Udp = HeaderOf<typeof udp>;

/** {@link Udp} header. */
export const udp = /* @__PURE__ */ fixedHeader('udp', {
  sourcePort: 16,
  destinationPort: 16,
  /** 16 bits, bytes: header and payload. As carried, not checked. */
  length: 16,
  /** 16 bits, as carried; 0 = none. `udpChecksum` computes one. */
  checksum: 16,
});

/** Bits of {@link Tcp.flags}. */
export const TCP_FLAG = { FIN: 1, SYN: 2, RST: 4, PSH: 8, ACK: 16, URG: 32, ECE: 64, CWR: 128 } as const;

/**
 * TCP header, 20 to 60 bytes. The data offset follows from `options`: these, as carried,
 * are a multiple of 4 bytes, at most 40. 16 bits: `sourcePort`, `destinationPort`,
 * `window`, `urgentPointer`; 32 bits: `sequenceNumber`, `acknowledgementNumber`; 4 bits: `reserved`.
 * @interface
 */
export type Tcp = HeaderOf<typeof tcp>;

/** {@link Tcp} header. Errors: `BAD_TCP_LENGTH` (data offset below 5 words). */
export const tcp = /* @__PURE__ */ headerWithTail(
  /* @__PURE__ */ new FieldGroup('tcp', {
    sourcePort: 16,
    destinationPort: 16,
    sequenceNumber: 32,
    acknowledgementNumber: 32,
    dataOffset: { bits: 4 },
    reserved: 4,
    /** 8 bits, CWR, ECE, URG, ACK, PSH, RST, SYN, FIN from bit 7 on. */
    flags: 8,
    window: 16,
    /** 16 bits, as carried; `tcpChecksum` computes one. */
    checksum: 16,
    urgentPointer: 16,
  }),
  { name: 'options', length: 'dataOffset', unit: 4, base: -20, short: ['BAD_TCP_LENGTH', 'data offset'] },
);
