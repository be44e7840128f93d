/** A packet of a labelled scenario, as its first switch sees it. */
export interface LabelledPacket {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** IP protocol number: 6 or 17. */
  readonly protocol: number;
  /** Flags of the TCP header; 0 for UDP. */
  readonly tcpFlags: number;
  /** Of the IP packet. */
  readonly lengthBytes: number;
  /** Whether it belongs to what {@link Truth} says is harmful: the ground truth. */
  readonly isHarmful: boolean;
}

/** What a labelled scenario is of. The last three are harmless and look like something. */
export const ATTACK_KINDS = [
  'syn-flood',
  'reflection',
  'pulsing',
  'scan-vertical',
  'scan-horizontal',
  'scan-slow',
  'scan-distributed',
  'beacon',
  'three-phases',
  'flash-crowd',
  'backup',
  'calm',
] as const;
export type AttackKind = (typeof ATTACK_KINDS)[number];

/** Something harmful in a scenario. */
export interface Truth {
  readonly kind: string;
  /** Address of the host that an alarm must name: the victim of a flood, the source of anything else. */
  readonly host: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export const TCP_FLAGS = { FIN: 1, SYN: 2, RST: 4, PSH: 8, ACK: 16 } as const;
