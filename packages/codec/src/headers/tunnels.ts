/** VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe), Geneve (RFC 8926) and GRE (RFC 2784, RFC 2890). */
import { CodecError } from '../errors.js';
import {
  FieldGroup,
  type FixedHeaderCodec,
  fixedHeader,
  type HeaderCodec,
  makeCodec,
  readUint16,
  readUint32,
  requireBytes,
  requireFit,
  requireSize,
  writeUint16,
  writeUint32,
} from './codec.js';

/** UDP ports of the tunnels. */
export const TUNNEL_PORT = { VXLAN: 4789, VXLAN_GPE: 4790, GENEVE: 6081 } as const;

/** VXLAN-GPE header, 8 bytes; plain VXLAN (RFC 7348) is the same with P, B and O 0 and no next protocol. */
export interface VxlanGpe {
  /** 2 bits. */
  reserved: number;
  /** 2 bits. */
  version: number;
  /** I: the VNI is valid. */
  vniValid: boolean;
  /** P: the next protocol is valid. */
  nextProtocolValid: boolean;
  /** B: broadcast, unknown unicast or multicast. */
  bumTraffic: boolean;
  /** O: operations, administration and maintenance. */
  oam: boolean;
  /** 16 bits. */
  reserved2: number;
  /** 8 bits: 1 IPv4, 2 IPv6, 3 Ethernet, 4 NSH; INT by configuration (0x05, 0x08, 0x80, 0x82). */
  nextProtocol: number;
  /** 24 bits. */
  vni: number;
  /** 8 bits. */
  reserved3: number;
}

/** {@link VxlanGpe} header. */
export const vxlanGpe: FixedHeaderCodec<VxlanGpe> = /* @__PURE__ */ fixedHeader<VxlanGpe>('vxlan-gpe', [
  ['reserved', 2],
  ['version', 2],
  ['vniValid', 1, 'flag'],
  ['nextProtocolValid', 1, 'flag'],
  ['bumTraffic', 1, 'flag'],
  ['oam', 1, 'flag'],
  ['reserved2', 16],
  ['nextProtocol', 8],
  ['vni', 24],
  ['reserved3', 8],
]);

/** One Geneve option; its length field follows from `data`. */
export interface GeneveOption {
  /** 16 bits. */
  optionClass: number;
  /** 8 bits; the highest one says 'critical'. INT: the header type. */
  type: number;
  /** 3 bits. */
  reserved: number;
  /** A multiple of 4 bytes, at most 124. */
  data: Uint8Array;
}

/** {@link GeneveOption}: 4 bytes and its data. */
export const geneveOption: HeaderCodec<GeneveOption> = /* @__PURE__ */ makeCodec<GeneveOption>({
  layer: 'geneve',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 4, 'geneve');
    const length = (bytes[offset + 3]! & 0x1f) * 4;
    requireBytes(bytes, offset, 4 + length, 'geneve');
    return {
      optionClass: readUint16(bytes, offset),
      type: bytes[offset + 2]!,
      reserved: bytes[offset + 3]! >>> 5,
      data: bytes.subarray(offset + 4, offset + 4 + length),
    };
  },
  measure(value) {
    requireSize('data', value.data, 4, 124);
    return 4 + value.data.length;
  },
  check(value) {
    requireFit('optionClass', value.optionClass, 16);
    requireFit('type', value.type, 8);
    requireFit('reserved', value.reserved, 3);
  },
  write(value, out, offset) {
    writeUint16(out, offset, value.optionClass);
    out[offset + 2] = value.type;
    out[offset + 3] = (value.reserved << 5) | (value.data.length / 4);
    out.set(value.data, offset + 4);
  },
});

/** Geneve header, 8 bytes and options. The option length field follows from `options`. */
export interface Geneve {
  /** 2 bits. */
  version: number;
  /** O: control packet. */
  control: boolean;
  /** C: a critical option is present. */
  critical: boolean;
  /** 6 bits. */
  reserved: number;
  /** 16 bits: EtherType of what follows. */
  protocolType: number;
  /** 24 bits. */
  vni: number;
  /** 8 bits. */
  reserved2: number;
  /** At most 252 bytes in all. */
  options: GeneveOption[];
}

type GeneveFixed = Omit<Geneve, 'options'>;
const GENEVE = /* @__PURE__ */ new FieldGroup<GeneveFixed>('geneve', [
  ['version', 2],
  [null, 6],
  ['control', 1, 'flag'],
  ['critical', 1, 'flag'],
  ['reserved', 6],
  ['protocolType', 16],
  ['vni', 24],
  ['reserved2', 8],
]);

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
    for (const { optionClass, type, reserved } of value.options) {
      requireFit('optionClass', optionClass, 16);
      requireFit('type', type, 8);
      requireFit('reserved', reserved, 3);
    }
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
