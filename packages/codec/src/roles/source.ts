/** The source role: inserts INT (wire format chapters 3, 4.4, 5, 7 and 8). */
import { CODE_MESSAGES, CODES } from '../codes.js';
import { concat, copyOf } from '../copy.js';
import { CodecError } from '../errors.js';
import { readUint16 } from '../headers/codec.js';
import type { Hop } from '../model.js';
import type { RoleReason, SourceConfig, SourceResult } from './config.js';
import { type Envelope, envelopeFor } from './envelope.js';
import { checksumFieldAt, findInt, fitsLengths, type OuterPacket, readOuter, settleIp, splice } from './packet.js';
import { encodeHeader, encodeStack, type SourceRule, sourceRule } from './plan.js';
import { endsInComplement, settleSums } from './transit.js';

const NONE = /* @__PURE__ */ new Uint8Array(0);

/** Encapsulations that say without doubt that INT follows: a problem there is malformed INT, not other traffic. */
const TUNNELS: readonly string[] = ['vxlan-gpe', 'geneve', 'gre'];

/** Whether the packet already carries INT. A header of destination type does not count: INT goes in front of it. */
function carriesInt(packet: OuterPacket, rule: SourceRule): boolean {
  const code = findInt(packet);
  if (code === CODES.OK) return true;
  const { scan } = packet;
  if (code !== CODES.NOT_INT && code !== CODES.UNSUPPORTED_SHIM_TYPE && TUNNELS.includes(rule.encapsulation)) {
    throw new CodecError('BAD_TUNNEL', scan.layer, scan.at, CODE_MESSAGES[code]!);
  }
  return false;
}

/** What the source pushes. */
interface Decision {
  readonly hops: number;
  readonly stack: Uint8Array;
  readonly pushed: boolean;
  readonly reason: RoleReason | null;
}

/**
 * Makes a packet carry INT, as a source does, and pushes the source's own metadata.
 *
 * The source is a node like others: if it pushes, one hop fewer may follow. Values that the bitmap selects and
 * `metadata` lacks are written as all ones. If the fixed headers do not fit the MTU, the packet gets no INT. If only
 * the source's metadata does not fit, the packet gets INT without it and without source-only bytes, and M is set (v1.0,
 * v2.x). Lengths and checksums are updated as by {@link transit}; `new-udp` does not change the transport checksum, and
 * its own UDP checksum is 0.
 *
 * @param packet an Ethernet frame without frame check sequence; bytes behind the IP packet remain behind it
 * @param config what to collect, and how INT is carried
 * @param metadata the source's values, or `null` (default) to push nothing
 * @param sourceMetadata source-only (INT-MD) or source-inserted (INT-MX) bytes of all such DS bits, in bit order;
 *   default: all ones
 * @returns a new packet; a copy of the old one if it gets no INT
 * @throws CodecError for a packet that is cut or malformed; RangeError for options or metadata out of range
 */
export function source(
  packet: Uint8Array,
  config: SourceConfig,
  metadata: Hop | null = null,
  sourceMetadata?: Uint8Array,
): SourceResult {
  const rule = sourceRule(config);
  const outer = readOuter(packet, config);
  const unchanged = (reason: RoleReason): SourceResult => ({
    packet: copyOf(packet),
    started: false,
    pushed: false,
    reason,
  });
  if (outer === null) return unchanged('not-applicable');
  if (outer.fragment) return unchanged('fragment');
  if (carriesInt(outer, rule)) return unchanged('already-int');
  const envelope = envelopeFor({ packet, outer, rule, config });
  if (envelope === null) return unchanged('not-applicable');

  // The packet needs room for this whatever is pushed. INT-MX metadata is part of it.
  const fixed = rule.headerBytes + (rule.mx ? rule.sourceBytes : 0);
  if (fixed > envelope.room || !fitsLengths(outer, envelope.overhead + fixed)) return unchanged('length');
  const mtu = config.mtu ?? Number.POSITIVE_INFINITY;
  const length = outer.scan.ipEnd - outer.scan.ipOffset + envelope.overhead;
  if (length + fixed > mtu) return unchanged('mtu');

  const decision = decide(rule, outer, envelope, metadata, sourceMetadata, mtu - length);
  if (decision.hops === 0) return unchanged('length');
  return {
    packet: assemble(packet, outer, rule, config, envelope, decision),
    started: true,
    pushed: decision.pushed,
    reason: decision.reason,
  };
}

function decide(
  rule: SourceRule,
  outer: OuterPacket,
  envelope: Envelope,
  metadata: Hop | null,
  sourceMetadata: Uint8Array | undefined,
  mtuRoom: number,
): Decision {
  const { maxHops, hopMl, sourceBytes, headerBytes, mx } = rule;
  const without = (reason: RoleReason, stack = encodeStack(rule, null, sourceMetadata), hops = maxHops): Decision => ({
    hops,
    stack,
    pushed: false,
    reason,
  });
  if (mx) return without('int-mx');
  if (hopMl === 0) {
    const fits = headerBytes + sourceBytes <= Math.min(envelope.room, mtuRoom);
    return fits ? without('no-instructions') : without('length', undefined, 0);
  }
  const fitting = Math.floor((envelope.room - headerBytes - sourceBytes) / (4 * hopMl));
  if (fitting <= 0) return without('length', undefined, 0);
  // A Geneve option has room for few hops, and no more may be allowed (INT v2.1 section 5.7.4).
  const hops = rule.encapsulation === 'geneve' ? Math.min(maxHops, fitting) : maxHops;
  if (metadata === null) {
    if (sourceBytes > 0) throw new RangeError('source-only metadata stands in the block of the source: give metadata');
    return without('no-metadata', NONE, hops);
  }
  const stack = encodeStack(rule, metadata, sourceMetadata);
  if (headerBytes + stack.length > mtuRoom) return without('mtu', NONE, hops);
  if (!fitsLengths(outer, envelope.overhead + headerBytes + stack.length)) {
    return without('length', NONE, 0);
  }
  return { hops, stack, pushed: true, reason: null };
}

function assemble(
  packet: Uint8Array,
  outer: OuterPacket,
  rule: SourceRule,
  config: SourceConfig,
  envelope: Envelope,
  decision: Decision,
): Uint8Array {
  const { scan } = outer;
  const { stack, pushed, hops } = decision;
  const header = encodeHeader(rule, config, {
    hops,
    pushed,
    mtuExceeded: decision.reason === 'mtu',
    stackBytes: stack.length,
    destinationPort: rule.encapsulation === 'intmon' ? readUint16(packet, scan.l4Offset + 2) : 0,
  });
  const bytes = header.length + stack.length;
  const prefix = envelope.prefix(bytes);
  const insert = concat(prefix, header, stack, envelope.suffix ?? NONE);
  const { at } = envelope;
  const out = splice(packet, at, 0, insert);
  envelope.patch?.(out, bytes);
  if (envelope.settle === 'none') return out;
  settleIp(packet, out, outer, insert.length);
  if (envelope.settle === 'ip') return out;
  const neutral =
    pushed &&
    config.checksum === 'complement' &&
    endsInComplement(rule.layout, rule.bitmap) &&
    checksumFieldAt(packet, scan) >= 0;
  settleSums(packet, out, outer, insert.length, neutral ? at + prefix.length + bytes - 4 : -1, at);
  return out;
}
