/** What an incident is of. */
export const INCIDENT_KINDS = [
  'ddos',
  'syn-flood',
  'scan-vertical',
  'scan-horizontal',
  'scan-slow',
  'scan-distributed',
  'superspreader',
  'beacon',
  'unusual-edge',
  'exfiltration',
  'congestion',
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

/**
 * A step of an attack, by the names of the tactics of MITRE ATT&CK. A phase is a hypothesis: the same packets have
 * harmless causes, which {@link Finding.otherwise} names.
 */
export type Phase =
  | 'reconnaissance'
  | 'discovery'
  | 'initial-access'
  | 'lateral-movement'
  | 'command-and-control'
  | 'exfiltration'
  | 'impact';

/** Numbers of a formula, by the names in its text. */
export type Operands = Readonly<Record<string, number | string | null>>;

/** An intent that would answer an incident. */
export interface Suggestion {
  readonly intent: 'block' | 'limit' | 'avoid' | 'watch';
  /** What it is about: `source`, `destination`, `port`, `protocol`, `switch`, `link`; only those that matter. */
  readonly match: Readonly<Record<string, string | number>>;
  /** It is withdrawn after so long if nobody renews it. */
  readonly ttlMs: number;
}

/** What a detector has found, before it is an incident. */
export interface Finding {
  readonly kind: IncidentKind;
  /** `host:ADDRESS`, `switch:ID`, `queue:ID/QUEUE`, `port:ID/PORT` or `service:PROTOCOL/PORT`. */
  readonly entity: string;
  readonly detector: string;
  /** The condition that held, with the names of the operands. */
  readonly formula: string;
  readonly operands: Operands;
  /** What is usual, in words and numbers; `null`: the detector needs no baseline. */
  readonly baseline: Operands | null;
  /** Milliseconds of telemetry that the finding rests on. */
  readonly windowMs: number;
  /** 0 to 1; the README says for each detector what it is. */
  readonly confidence: number;
  readonly phase: Phase | null;
  /** What else would look like this. */
  readonly otherwise: readonly string[];
  /** What one could measure to be sure. */
  readonly confirm: string;
  readonly suggest: Suggestion | null;
}

/** One per entity and cause. Times are milliseconds since the epoch. */
export interface Incident extends Finding {
  readonly type: 'incident';
  /** `<kind>/<entity>/<from>`: the same input gives the same id. */
  readonly id: string;
  readonly state: 'open' | 'close';
  readonly from: number;
  /** `null` while it is open. */
  readonly to: number | null;
  /** Other entities on the same path, found at the same time and merged into this one. */
  readonly along: readonly string[];
}
