/** A whole RoCEv2 packet as an object. */
import type { Aeth, AtomicEth, Reth } from '../headers/roce.js';

/** A RoCEv2 packet: what {@link decodeRoce} gives. */
export interface RocePacket {
  /** MAC addresses; null if the packet starts with its IP header. */
  ethernet: { destination: string; source: string } | null;
  /** IP addresses, both IPv4 or both IPv6. */
  source: string;
  destination: string;
  /** 6 bits. */
  dscp: number;
  /** 2 bits. */
  ecn: number;
  /** 8 bits: TTL, or hop limit. */
  timeToLive: number;
  /** IPv4: 16 bits. 0 for IPv6. */
  identification: number;
  /** IPv4. True for IPv6, whose routers never fragment. */
  dontFragment: boolean;
  /** IPv6: 20 bits. 0 for IPv4. */
  flowLabel: number;
  /** UDP ports, 16 bits. */
  sourcePort: number;
  destinationPort: number;
  /** 16 bits as carried: 0 for none. */
  udpChecksum: number;
  /** 8 bits, see `ROCE_OPCODE`. */
  opcode: number;
  solicitedEvent: boolean;
  migrated: boolean;
  /** 16 bits. */
  partitionKey: number;
  fecn: boolean;
  becn: boolean;
  /** 24 bits. */
  destinationQp: number;
  acknowledgeRequest: boolean;
  /** 24 bits. */
  psn: number;
  /** In WRITE-only and WRITE-first packets, else null. */
  reth: Reth | null;
  /** In COMPARE&SWAP and FETCH&ADD packets, else null. */
  atomicEth: AtomicEth | null;
  /** In answers, else null. */
  aeth: Aeth | null;
  /** 32 bits, in packets with immediate data, else null. */
  immediate: number | null;
  /** 64 bits, in answers to atomics: the value in memory before; else null. */
  original: bigint | null;
  /** Without pad bytes. When decoded, a view of the frame. */
  payload: Uint8Array;
}

type Needed = 'source' | 'destination' | 'opcode' | 'destinationQp' | 'psn';

/**
 * What {@link encodeRoce} needs. Defaults: no Ethernet header, DSCP and ECN 0, TTL 64, identification 0, do not
 * fragment, flow label 0, source port 49152, destination port 4791, UDP checksum 0, partition key 0xffff, flags false,
 * headers null, payload empty. The opcode determines which headers must be there.
 */
export type RoceFields = Pick<RocePacket, Needed> & Partial<Omit<RocePacket, Needed>>;
