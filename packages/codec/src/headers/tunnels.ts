/** VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe), Geneve (RFC 8926) and GRE (RFC 2784, RFC 2890). */
import { CodecError } from '../errors.js';
import {
  FieldGroup,
  fixedHeader,
  type HeaderCodec,
  type HeaderFields,
  type HeaderOf,
  headerWithTail,
  makeCodec,
  readUint16,
  readUint32,
  requireBytes,
  requireFit,
  writeUint16,
  writeUint32,
} from './codec.js';

/** UDP ports of the tunnels. */
export const TUNNEL_PORT = { VXLAN: 4789, VXLAN_GPE: 4790, GENEVE: 6081 } as const;

/**
 * VXLAN-GPE header, 8 bytes; plain VXLAN (RFC 7348) is the same with P, B and O 0 and no next protocol. 2 bits:
 * `reserved`, `version`; 16 bits: `reserved2`; 24 bits: `vni`; 8 bits: `reserved3`.
 * @interface
 */
export type VxlanGpe = HeaderOf<typeof vxlanGpe>;

/** {@link VxlanGpe} header. */
export const vxlanGpe = /* @__PURE__ */ fixedHeader('vxlan-gpe', {
  reserved: 2,
  version: 2,
  /** I: the VNI is valid. */
  vniValid: 'flag',
  /** P: the next protocol is valid. */
  nextProtocolValid: 'flag',
  /** B: broadcast, unknown unicast or multicast. */
  bumTraffic: 'flag',
  /** O: operations, administration and maintenance. */
  oam: 'flag',
  reserved2: 16,
  /** 8 bits: 1 IPv4, 2 IPv6, 3 Ethernet, 4 NSH; INT by configuration (0x05, 0x08, 0x80, 0x82). */
  nextProtocol: 8,
  vni: 24,
  reserved3: 8,
});

/** The fixed part of an option. */
export const GENEVE_OPTION = /* @__PURE__ */ new FieldGroup('geneve', {
  optionClass: 16,
  /** 8 bits; the highest one says 'critical'. INT: the header type. */
  type: 8,
  reserved: 3,
  length: { bits: 5 },
});

/**
 * One Geneve option. 16 bits: `optionClass`; 3 bits: `reserved`. Its length field follows from `data`, a multiple of 4
 * bytes, at most 124.
 * @interface
 */
export type GeneveOption = HeaderOf<typeof geneveOption>;

/** {@link GeneveOption}: 4 bytes and its data. */
export const geneveOption = /* @__PURE__ */ headerWithTail(GENEVE_OPTION, { name: 'data', length: 'length', unit: 4 });

/** The fixed part of the header. */
export const GENEVE = /* @__PURE__ */ new FieldGroup('geneve', {
  version: 2,
  optionLength: { bits: 6 },
  /** O: control packet. */
  control: 'flag',
  /** C: a critical option is present. */
  critical: 'flag',
  reserved: 6,
  /** 16 bits: EtherType of what follows. */
  protocolType: 16,
  vni: 24,
  reserved2: 8,
});

/**
 * Geneve header, 8 bytes and options. The option length field follows from `options`. 2 bits: `version`; 6 bits:
 * `reserved`; 24 bits: `vni`; 8 bits: `reserved2`.
 * @interface
 */
export type Geneve = HeaderFields<(typeof GENEVE)['layout']> & {
  /** At most 252 bytes in all. */
  options: GeneveOption[];
};

/** {@link Geneve} header. Errors: `BAD_TUNNEL` (an option runs past the option length). */
export const geneve: HeaderCodec<Geneve> = /* @__PURE__ */ makeCodec<Geneve>({
  layer: 'geneve',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 8, 'geneve');
    const fields = GENEVE.read(bytes, offset);
    const end = offset + 8 + (bytes[offset]! & 63) * 4;
    const options: GeneveOption[] = [];
    for (let position = offset + 8; position < end; ) {
      requireBytes(bytes, position, 4, 'geneve');
      const length = 4 + (bytes[position + 3]! & 0x1f) * 4;
      if (position + length > end) {
        throw new CodecError('BAD_TUNNEL', 'geneve', position, 'an option runs past the option length');
      }
      options.push(geneveOption.decode(bytes, position));
      position += length;
    }
    return Object.assign(fields, { options });
  },
  measure(value) {
    let length = 0;
    for (const option of value.options) length += geneveOption.encodingLength(option);
    if (length > 252) throw new RangeError(`options must take at most 252 bytes, not ${length}`);
    return 8 + length;
  },
  check(value) {
    GENEVE.check(value);
    for (const option of value.options) GENEVE_OPTION.check(option);
  },
  write(value, out, offset) {
    let position = offset + 8;
    for (const option of value.options) position += geneveOption.encodeInto(option, out, position);
    GENEVE.write(value, out, offset);
    out[offset]! |= (position - offset - 8) / 4;
  },
});

/** GRE header: 4 bytes and one word for each of checksum, key and sequence number that is present. */
export interface Gre {
  /** 9 bits between the flags and the version; 0. */
  reserved: number;
  /** 16 bits: EtherType of what follows. */
  protocolType: number;
  /** 16 bits, as carried, or `null` (C = 0). */
  checksum: number | null;
  /** 16 bits behind the checksum; 0, and not carried without a checksum. */
  reserved2: number;
  /** 32 bits, or `null` (K = 0). */
  key: number | null;
  /** 32 bits, or `null` (S = 0). */
  sequenceNumber: number | null;
}

/** {@link Gre} header. Errors: `BAD_TUNNEL` for RFC 1701 source routes and for versions other than 0. */
export const gre: HeaderCodec<Gre> = /* @__PURE__ */ makeCodec<Gre>({
  layer: 'gre',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 4, 'gre');
    const flags = readUint16(bytes, offset);
    if ((flags & 0x4000) !== 0) throw new CodecError('BAD_TUNNEL', 'gre', offset, 'source routes are not supported');
    if ((flags & 7) !== 0)
      throw new CodecError('BAD_TUNNEL', 'gre', offset + 1, `version ${flags & 7} is not supported`);
    const hasChecksum = (flags & 0x8000) !== 0;
    const hasKey = (flags & 0x2000) !== 0;
    const hasSequence = (flags & 0x1000) !== 0;
    const keyAt = offset + (hasChecksum ? 8 : 4);
    const sequenceAt = keyAt + (hasKey ? 4 : 0);
    requireBytes(bytes, offset, sequenceAt + (hasSequence ? 4 : 0) - offset, 'gre');
    return {
      reserved: (flags >>> 3) & 0x1ff,
      protocolType: readUint16(bytes, offset + 2),
      checksum: hasChecksum ? readUint16(bytes, offset + 4) : null,
      reserved2: hasChecksum ? readUint16(bytes, offset + 6) : 0,
      key: hasKey ? readUint32(bytes, keyAt) : null,
      sequenceNumber: hasSequence ? readUint32(bytes, sequenceAt) : null,
    };
  },
  measure: ({ checksum, key, sequenceNumber }) =>
    4 + (checksum !== null ? 4 : 0) + (key !== null ? 4 : 0) + (sequenceNumber !== null ? 4 : 0),
  check(value) {
    requireFit('reserved', value.reserved, 9);
    requireFit('protocolType', value.protocolType, 16);
    if (value.checksum !== null) requireFit('checksum', value.checksum, 16);
    requireFit('reserved2', value.reserved2, value.checksum !== null ? 16 : 0);
    if (value.key !== null) requireFit('key', value.key, 32);
    if (value.sequenceNumber !== null) requireFit('sequenceNumber', value.sequenceNumber, 32);
  },
  write({ reserved, protocolType, checksum, reserved2, key, sequenceNumber }, out, offset) {
    const flags =
      (checksum !== null ? 0x8000 : 0) | (key !== null ? 0x2000 : 0) | (sequenceNumber !== null ? 0x1000 : 0);
    writeUint16(out, offset, flags | (reserved << 3));
    writeUint16(out, offset + 2, protocolType);
    let position = offset + 4;
    if (checksum !== null) {
      writeUint16(out, position, checksum);
      writeUint16(out, position + 2, reserved2);
      position += 4;
    }
    if (key !== null) {
      writeUint32(out, position, key);
      position += 4;
    }
    if (sequenceNumber !== null) writeUint32(out, position, sequenceNumber);
  },
});
