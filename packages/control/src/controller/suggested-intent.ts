import type { Incident, Suggestion } from '@int/knowledge';
import type { FlowMatch } from '../intents/flow-match.js';
import type { Intent, IntentKind } from '../intents/intent.js';
import type { ControlPolicy } from './policy.js';

const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17 };
/** What the loop wants gives way to what people want. */
const PRIORITY = 100;
/** INT 2.1: node id, interfaces, hop latency, queue. */
const INSTRUCTIONS = 0xf000;
/** A limit leaves twice what was usual. */
const MARGIN = 2;
const LEAST_BPS = 100_000;

export interface SuggestedIntent {
  readonly kind: IntentKind;
  readonly subject: string;
  readonly ttlMs: number;
  /** Makes the intent, once it has a name. */
  make(id: string, nowMs: number): Intent;
}

/** Packets that a suggestion means; `null`: it names none that a switch can tell apart. */
export function matchOf({ source, destination, port, protocol }: Suggestion['match']): FlowMatch | null {
  const text = (value: string | number | undefined): string | undefined =>
    value === undefined ? undefined : String(value);
  const number = protocol === undefined ? undefined : (PROTOCOLS[String(protocol)] ?? Number(protocol));
  const match: FlowMatch = {
    ...(source !== undefined && { source: text(source)! }),
    ...(destination !== undefined && { destination: text(destination)! }),
    ...(number !== undefined && Number.isInteger(number) && { protocol: number }),
    ...(port !== undefined && { destinationPort: [Number(port), Number(port)] as const }),
  };
  // Without an address it would be for everybody.
  return match.source === undefined && match.destination === undefined ? null : match;
}

/** Bits a second that a limit leaves: the baseline of the incident where it has one. */
function limitOf({ baseline }: Incident, usualBps: number): number {
  const known = Object.entries(baseline ?? {}).find(([name, value]) => /bps$/i.test(name) && typeof value === 'number');
  return Math.max(LEAST_BPS, Math.round(MARGIN * (known === undefined ? usualBps : (known[1] as number))));
}

/**
 * The intent that an incident suggests; text: why there is none.
 * @param usualBps what was usual for the destination before
 */
export function suggestedIntent(incident: Incident, policy: ControlPolicy, usualBps: number): SuggestedIntent | string {
  const { suggest } = incident;
  if (suggest === null) return 'the incident suggests no action';
  const terms = (id: string, nowMs: number, ttlMs: number) => ({
    id,
    owner: `incident:${incident.id}`,
    priority: PRIORITY,
    fromMs: nowMs,
    ttlMs,
    reason: `${incident.kind} at ${incident.entity}: ${incident.formula}`,
  });
  const ttlMs = policy.ttlMs[suggest.intent] ?? suggest.ttlMs;
  if (suggest.intent === 'avoid') return 'no link is named: flows are moved by the load of the links';
  const match = matchOf(suggest.match);
  if (match === null) return 'the incident names no address by which a switch could tell its packets';
  const subject = `${suggest.intent} ${JSON.stringify(match)}`;
  const { intent: kind } = suggest;
  if (kind === 'block') {
    const { reportOneIn } = policy;
    return { kind, subject, ttlMs, make: (id, nowMs) => ({ ...terms(id, nowMs, ttlMs), kind, match, reportOneIn }) };
  }
  if (kind === 'limit') {
    const bitsPerSecond = limitOf(incident, usualBps);
    return { kind, subject, ttlMs, make: (id, nowMs) => ({ ...terms(id, nowMs, ttlMs), kind, match, bitsPerSecond }) };
  }
  const watch = { match, instructions: INSTRUCTIONS, oneIn: 1 };
  return { kind, subject, ttlMs, make: (id, nowMs) => ({ ...terms(id, nowMs, ttlMs), kind, ...watch }) };
}
