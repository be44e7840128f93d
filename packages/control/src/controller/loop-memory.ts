import type { Incident } from '@int/knowledge';
import type { LinkFailureEvent } from '@int/stream';
import type { IntentKind } from '../intents/intent.js';
import type { LinkLoad } from '../twin/rehearsal.js';
import type { EmergencyStop } from './emergency-stop.js';
import type { Effect, Proposal } from './proposal.js';

/** A proposal under way, with what only the loop knows of it. */
export interface ProposalMemory {
  readonly proposal: Proposal;
  readonly ttlMs: number;
  readonly effect: Effect | null;
  readonly flows: readonly (readonly [key: string, path: readonly number[]])[];
  /** As in a draft; files of before have none. */
  readonly rates?: readonly (readonly [key: string, bps: number])[];
  readonly packetsPerSecond: number;
  readonly firedMs: number;
  readonly expected: readonly (readonly [link: string, load: LinkLoad])[] | null;
  /** When that was measured; files of before do not say it. */
  readonly expectedMs?: number;
}

/** A failure of a link that is known. */
export interface FailureMemory {
  readonly event: LinkFailureEvent;
  readonly subject: string;
  readonly atMs: number;
  readonly untilMs: number;
}

/** An incident that was answered and is open. */
export interface IncidentMemory {
  readonly incident: Incident;
  readonly subject: string | null;
}

/** What a loop has to know to go on as if it had not been restarted. It is plain data; times are milliseconds since the epoch. */
export interface LoopMemory {
  readonly isStopped: boolean;
  /** Missing: whoever kept it did not know. */
  readonly stopped?: EmergencyStop | null;
  readonly sequence: number;
  readonly live: readonly ProposalMemory[];
  /** The newest first. */
  readonly ended: readonly Proposal[];
  readonly installations: readonly { readonly atMs: number; readonly kind: IntentKind }[];
  readonly backOff: readonly (readonly [
    subject: string,
    failures: { readonly count: number; readonly untilMs: number },
  ])[];
  readonly failures: readonly FailureMemory[];
  /** How often links have failed. */
  readonly repeats: readonly (readonly [subject: string, count: number])[];
  readonly incidents: readonly IncidentMemory[];
  /** Since when the intents of people are in force. */
  readonly begun: readonly (readonly [intent: string, fromMs: number])[];
}
