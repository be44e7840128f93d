import { create } from '@bufbuild/protobuf';
import { type PacketMetadata, PacketMetadataSchema } from '../generated/p4/v1/p4runtime_pb.js';
import { fits, numberOfBytes, shortestBytes } from '../values/bytes.js';
import { invalid } from './refusal.js';
import type { ParameterSchema } from './schema.js';

/** The header in front of packets from or to the controller: its fields one after the other, without gaps. */
export class PacketHeader {
  readonly bits: number;
  /** Length in bytes, rounded up. */
  readonly length: number;

  /** @param fields none: packets have no header */
  constructor(readonly fields: readonly ParameterSchema[]) {
    this.bits = fields.reduce((sum, { width }) => sum + width, 0);
    this.length = Math.ceil(this.bits / 8);
  }

  /** The header and the payload in one. @throws Refusal INVALID_ARGUMENT unless there is one value for each field */
  join(metadata: readonly PacketMetadata[], payload: Uint8Array): Uint8Array {
    const { fields, length } = this;
    if (metadata.length !== fields.length) {
      invalid(
        `Unexpected metadata in PacketOut message: it has ${fields.length} fields, and ${metadata.length} are given`,
      );
    }
    const packet = new Uint8Array(length + payload.length);
    packet.set(payload, length);
    if (length === 0) return packet;
    const values: Uint8Array[] = [];
    for (const { metadataId, value } of metadata) {
      const field = fields.find(({ id }) => id === metadataId);
      if (field === undefined) return invalid(`Unknown metadata id in PacketOut message: ${metadataId}`);
      if (values[field.position] !== undefined) invalid(`metadata ${field.name} is given twice`);
      if (!fits(value, field.width)) {
        invalid(`Bytestring provided does not fit within ${field.width} bits: PacketOut metadata ${field.name}`);
      }
      values[field.position] = value;
    }
    let header = 0n;
    for (const { position, width } of fields) header = (header << BigInt(width)) | numberOfBytes(values[position]!);
    header <<= BigInt(length * 8 - this.bits);
    for (let i = length - 1; i >= 0; i--, header >>= 8n) packet[i] = Number(header & 0xffn);
    return packet;
  }

  /** Takes a packet apart; undefined if it is shorter than the header. The payload is a copy. */
  split(packet: Uint8Array): { readonly metadata: PacketMetadata[]; readonly payload: Uint8Array } | undefined {
    const { fields, length, bits } = this;
    if (packet.length < length) return undefined;
    const header = length === 0 ? 0n : numberOfBytes(packet.subarray(0, length)) >> BigInt(length * 8 - bits);
    let left = bits;
    const metadata = fields.map(({ id, width }) => {
      left -= width;
      const value = shortestBytes(BigInt.asUintN(width, header >> BigInt(left)));
      return create(PacketMetadataSchema, { metadataId: id, value });
    });
    return { metadata, payload: packet.slice(length) };
  }
}
