import type { Incident } from '@int/knowledge';
import type { DeviceProfile, Topology } from '@int/network';
import type { ImmediateEvent, LinkFailureEvent } from '@int/stream';
import type { Intent, KeepIntent, PathIntent } from '../intents/intent.js';
import { Congestion } from './congestion.js';
import { FloodSources } from './flood-sources.js';
import { flowTest } from './flow-test.js';
import type { LinkMap } from './link-map.js';
import type { Draft } from './live-proposal.js';
import type { LoopMemory } from './loop-memory.js';
import type { Measurement } from './measurement.js';
import { pathDraft } from './path-draft.js';
import type { ControlPolicy } from './policy.js';
import { flowsText, incidentReason, spanText } from './reason-text.js';
import { crosses, RecentFlows } from './recent-flows.js';
import { matchOf, type SuggestedIntent, suggestedIntent } from './suggested-intent.js';

const MOST_INCIDENTS = 1024;
const MOST_FAILURES = 256;
/** Measurements that are kept: what was before is their average. */
const KEPT = 5;
/** A flow is one of a failed link if it was seen there within this time before. */
const BEFORE_MS = 5000;
/** So long an action against a flood waits for the sources to be seen. */
const SOURCES_MS = 2500;
/** A link that failed again and again is left alone for longer, at most so many times as long. */
const MOST_DOUBLINGS = 6;
const LINK_TTL_MS = 60_000;
const PRIORITY = 200;

/** An incident of before a restart counts as open for so long; meanwhile it is seen anew, if it goes on. */
const REMEMBERED_MS = 60_000;

interface OpenIncident {
  readonly incident: Incident;
  /** Its intent was proposed, or it was told why there is none. */
  isTold: boolean;
  subject: string | null;
  sinceMs: number | null;
  /** When it counts as closed, though nobody has said so. */
  untilMs: number;
}

/** What is under way already. */
export interface UnderWay {
  /** Whether nothing may be proposed about a subject now. */
  isBusy(subject: string): boolean;
  /** Whether moves of flows are under way whose effect is not known yet. */
  readonly isMoving: boolean;
  /** Flows that were moved, and stay until their time is over. */
  readonly pinned: ReadonlySet<string>;
  /** Intents of moves under way. */
  readonly paths: readonly PathIntent[];
}

interface FailedLink {
  readonly event: LinkFailureEvent;
  readonly subject: string;
  readonly atMs: number;
  untilMs: number;
}

/** What is seen of the network, and what could be done about it. All tables are bounded. */
export class Observations {
  /** Incidents and failures for which there was no room. */
  untracked = 0;
  loadAbove: number;
  readonly #links: LinkMap;
  readonly #device: DeviceProfile;
  readonly #incidents = new Map<string, OpenIncident>();
  /** Incidents of before a restart, by their names of then. */
  readonly #renamed = new Map<string, string>();
  readonly #failures = new Map<string, FailedLink>();
  readonly #repeats = new Map<string, number>();
  readonly #recent = new RecentFlows();
  readonly #sources = new FloodSources();
  readonly #congestion: Congestion;
  readonly #measurements: Measurement[] = [];
  #isNew = false;

  constructor(links: LinkMap, loadAbove: number, topology: Topology, device: DeviceProfile) {
    this.#links = links;
    this.#device = device;
    this.loadAbove = loadAbove;
    this.#congestion = new Congestion(loadAbove, topology);
  }

  /** The ends of a link of which nothing comes any more, for people. */
  #fromTo({ link: [from, to] }: LinkFailureEvent): string {
    return `${this.#links.switchText(from)} to ${this.#links.switchText(to)}`;
  }

  get failedLinks(): ReadonlySet<string> {
    const failed = new Set<string>();
    for (const { event } of this.#failures.values()) {
      const [from, to] = event.link;
      for (const key of [this.#links.link(from, to), this.#links.link(to, from)]) if (key !== null) failed.add(key);
    }
    return failed;
  }

  isOpen(incident: string): boolean {
    return this.#incidents.has(incident) || this.#incidents.has(this.#renamed.get(incident) ?? '');
  }

  get memory(): Pick<LoopMemory, 'failures' | 'repeats' | 'incidents'> {
    return {
      failures: [...this.#failures.values()].map((each) => ({ ...each })),
      repeats: [...this.#repeats],
      incidents: [...this.#incidents.values()]
        .filter(({ isTold }) => isTold)
        .map(({ incident, subject }) => ({ incident, subject })),
    };
  }

  restore(
    { failures, repeats, incidents }: Pick<LoopMemory, 'failures' | 'repeats' | 'incidents'>,
    nowMs: number,
  ): void {
    for (const each of failures) this.#failures.set(each.subject, { ...each });
    for (const [subject, count] of repeats) this.#repeats.set(subject, count);
    for (const { incident, subject } of incidents) {
      const untilMs = nowMs + REMEMBERED_MS;
      this.#incidents.set(incident.id, { incident, isTold: true, subject, sinceMs: nowMs, untilMs });
    }
  }

  /** What was proposed about a subject was of no use: its incident, if it stays open, may be answered again. */
  failed(subject: string): void {
    for (const open of this.#incidents.values()) if (open.subject === subject) open.isTold = false;
  }

  incident(incident: Incident): void {
    if (incident.state === 'close') {
      this.#incidents.delete(incident.id);
      return;
    }
    if (this.#incidents.size >= MOST_INCIDENTS) {
      this.untracked++;
      return;
    }
    const { id, kind, entity } = incident;
    // One of before a restart that is seen anew has its answer.
    const known = [...this.#incidents.values()].find(
      (each) =>
        each.untilMs !== Number.POSITIVE_INFINITY && each.incident.kind === kind && each.incident.entity === entity,
    );
    const { isTold = false, subject = null } = known ?? {};
    if (known !== undefined) {
      this.#incidents.delete(known.incident.id);
      if (known.incident.id !== id) this.#renamed.set(known.incident.id, id);
    }
    this.#incidents.set(id, { incident, isTold, subject, sinceMs: null, untilMs: Number.POSITIVE_INFINITY });
  }

  /** @returns why the switches should be looked at; `null`: they need not */
  event(event: ImmediateEvent, nowMs: number): string | null {
    if (event.ended === true) {
      if (event.kind === 'linkFailure') this.#failures.delete(subjectOf(event));
      return null;
    }
    if (event.kind === 'loop') return `packets loop at switch ${event.nodeId}`;
    if (event.kind === 'blackHole') return `a flow ends behind switch ${event.seenBy}`;
    if (event.kind !== 'linkFailure') return null;
    const subject = subjectOf(event);
    if (this.#failures.has(subject)) return null;
    if (this.#failures.size >= MOST_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    this.#failures.set(subject, { event, subject, atMs: nowMs, untilMs: Number.POSITIVE_INFINITY });
    return `the link from switch ${event.link[0]} to ${event.link[1]} carries nothing`;
  }

  measurement(measurement: Measurement): void {
    this.#isNew = true;
    this.#recent.add(measurement);
    const floods = [...this.#incidents.values()].filter(({ incident }) => isFlood(incident));
    const isFlooded = (destination: string): boolean =>
      floods.some(({ incident }) => incident.entity === `host:${destination}`);
    this.#sources.learn(measurement.flows, measurement.timeMs, isFlooded);
    this.#measurements.push(measurement);
    if (this.#measurements.length > KEPT) this.#measurements.shift();
  }

  /** What could be proposed now; text: why there is nothing to propose for something that was seen. */
  *drafts(
    nowMs: number,
    policy: ControlPolicy,
    intents: readonly Intent[],
    underWay: UnderWay,
  ): Generator<Draft | string> {
    const keeps = intents.filter((intent): intent is KeepIntent => intent.kind === 'keep');
    this.loadAbove = keeps.length === 0 ? policy.loadAbove : Math.min(...keeps.map(({ below }) => below));
    this.#congestion.above = this.loadAbove;
    yield* this.#ofFailures(nowMs, policy, underWay);
    yield* this.#ofIncidents(nowMs, policy, underWay);
    yield* this.#ofLoads(policy, intents, underWay);
  }

  *#ofFailures(nowMs: number, policy: ControlPolicy, underWay: UnderWay): Generator<Draft | string> {
    for (const failure of [...this.#failures.values()]) {
      const { event, subject } = failure;
      // The link was left alone for its time; if it still fails, packets on it tell so anew.
      if (nowMs >= failure.untilMs) {
        this.#failures.delete(subject);
        continue;
      }
      if (failure.untilMs !== Number.POSITIVE_INFINITY || underWay.isBusy(subject)) continue;
      const [from, to] = event.link;
      const link = this.#links.link(from, to) ?? this.#links.link(to, from);
      if (link === null) {
        this.#failures.delete(subject);
        continue;
      }
      const affected = this.#recent.over(from, to, failure.atMs - BEFORE_MS - 1000);
      // Those of the other direction say nothing about this one: they may still come.
      if (![...affected.values()].some(({ flow }) => crosses(flow, from, to))) {
        // Whatever crossed it has ended by itself, or was sent another way.
        this.#failures.delete(subject);
        yield `nothing crosses ${this.#fromTo(event)} any more, and no flow that goes on has done so`;
        continue;
      }
      const repeats = this.#repeats.get(subject) ?? 0;
      this.#repeats.set(subject, Math.min(MOST_DOUBLINGS, repeats + 1));
      if (this.#repeats.size > MOST_FAILURES) this.#repeats.delete(this.#repeats.keys().next().value!);
      const ttlMs = (policy.ttlMs.avoid ?? LINK_TTL_MS) * 2 ** repeats;
      failure.untilMs = nowMs + ttlMs;
      const before = [...affected.values()].reduce((sum, { bps }) => sum + bps, 0);
      const [switchId, port] = link.split(':').map(Number) as [number, number];
      const reason = `link failure: nothing crosses ${this.#fromTo(event)} ${sinceText(event)}, ${flowsText(event.flows)} did`;
      yield {
        kind: 'avoid',
        subject,
        reason,
        incident: null,
        ttlMs,
        autonomy: policy.autonomy.avoid ?? 'observe',
        effect:
          before === 0 ? null : { metric: 'flow-bps', subject: `flows over ${from}-${to}`, before: 0, after: before },
        flows: new Map(Array.from(affected, ([key, { flow }]) => [key, flow.path])),
        rates: new Map(Array.from(affected, ([key, { bps }]) => [key, bps])),
        packetsPerSecond: 0,
        make: (id, fromMs) => [
          {
            ...{ id, owner: `incident:${event.id}`, priority: PRIORITY, fromMs, ttlMs, reason },
            kind: 'avoid',
            link: { switchId, port },
          },
        ],
      };
    }
  }

  *#ofIncidents(nowMs: number, policy: ControlPolicy, underWay: UnderWay): Generator<Draft | string> {
    for (const [id, open] of [...this.#incidents]) {
      if (nowMs >= open.untilMs) this.#incidents.delete(id);
      if (open.isTold) continue;
      open.sinceMs ??= nowMs;
      const { incident } = open;
      const suggested = this.#answerTo(incident, policy, nowMs - open.sinceMs);
      if (suggested === null) continue;
      if (typeof suggested === 'string') {
        open.isTold = true;
        yield `${incident.id}: ${suggested}`;
        continue;
      }
      if (underWay.isBusy(suggested.subject)) continue;
      open.isTold = true;
      open.subject = suggested.subject;
      yield suggested;
    }
  }

  /** `null`: it has to be seen more of it. */
  #answerTo(incident: Incident, policy: ControlPolicy, ageMs: number): Draft | string | null {
    if (isFlood(incident)) {
      const destination = incident.entity.slice('host:'.length);
      const flows = this.#measurements.flatMap((each) => each.flows);
      const isPatient = ageMs < SOURCES_MS;
      const prefixes = this.#sources.prefixes(destination, flows, isPatient);
      if (prefixes === 'unseen' && isPatient) return null;
      if (typeof prefixes !== 'string') {
        const ttlMs = policy.ttlMs.block ?? incident.suggest?.ttlMs ?? 60_000;
        const { reportOneIn } = policy;
        const terms = {
          owner: `incident:${incident.id}`,
          priority: 100,
          ttlMs,
          reason: incidentReason(incident, this.#device),
        };
        return this.#draft(policy, incident, {
          kind: 'block',
          subject: `block flood of ${destination}`,
          ttlMs,
          intents: (id, fromMs) =>
            prefixes.map((match, index) => ({
              ...terms,
              ...{ id: `${id}.${index}`, fromMs, kind: 'block' as const, match, reportOneIn },
            })),
        });
      }
    }
    const match = incident.suggest === null ? null : matchOf(incident.suggest.match);
    const usualBps = match === null ? 0 : this.#before(match).bps;
    const suggested = suggestedIntent(incident, policy, usualBps);
    if (typeof suggested === 'string') return suggested;
    return this.#draft(policy, incident, { ...suggested, intents: (id, nowMs) => [suggested.make(id, nowMs)] });
  }

  #draft(
    policy: ControlPolicy,
    incident: Incident,
    {
      kind,
      subject,
      ttlMs,
      intents,
    }: Pick<SuggestedIntent, 'kind' | 'subject' | 'ttlMs'> & { intents: (id: string, nowMs: number) => Intent[] },
  ): Draft {
    let bps = 0;
    let packetsPerSecond = 0;
    let left = 0;
    for (const intent of intents('', 0)) {
      if (!('match' in intent)) continue;
      const before = this.#before(intent.match);
      bps += before.bps;
      packetsPerSecond += before.packetsPerSecond;
      if (intent.kind === 'limit') left += Math.min(before.bps, intent.bitsPerSecond);
    }
    const isMeasured = (kind === 'block' || kind === 'limit') && bps > 0;
    return {
      ...{ kind, subject, ttlMs, incident, packetsPerSecond, make: intents, flows: new Map() },
      reason: incidentReason(incident, this.#device),
      autonomy: policy.autonomy[kind] ?? 'observe',
      effect: isMeasured ? { metric: 'flow-bps', subject: incident.entity, before: bps, after: left } : null,
    };
  }

  *#ofLoads(
    policy: ControlPolicy,
    intents: readonly Intent[],
    { isBusy, isMoving, pinned, paths }: UnderWay,
  ): Generator<Draft> {
    const measurement = this.#measurements.at(-1);
    if (!this.#isNew || measurement === undefined) return;
    this.#isNew = false;
    // The next moves are chosen when the effect of those before is seen.
    if (isMoving) return;
    const failed = this.failedLinks;
    const ofPeople = intents.filter((intent): intent is PathIntent => intent.kind === 'path');
    const placed = [...ofPeople, ...paths];
    const isUsable = (link: string): boolean => !failed.has(link);
    const looked = this.#congestion.look(measurement, this.#links, { isUsable, pinned, placed });
    if (looked === null || looked.moves.length === 0) return;
    const subject = `path around ${looked.decision.hottest}`;
    if (!isBusy(subject)) yield pathDraft(looked, this.#links, policy, subject);
  }

  #before(match: Parameters<typeof flowTest>[0]): { readonly bps: number; readonly packetsPerSecond: number } {
    const isMeant = flowTest(match);
    let [bytes, packets, seconds] = [0, 0, 0];
    for (const measurement of this.#measurements) {
      seconds += measurement.seconds;
      for (const flow of measurement.flows) {
        if (!isMeant(flow)) continue;
        bytes += flow.bytes;
        packets += flow.packets;
      }
    }
    return seconds === 0
      ? { bps: 0, packetsPerSecond: 0 }
      : { bps: (8 * bytes) / seconds, packetsPerSecond: packets / seconds };
  }
}

const isFlood = ({ kind, entity }: Incident): boolean =>
  (kind === 'syn-flood' || kind === 'ddos') && entity.startsWith('host:');

/** How long it has been silent, by the clock of the reports. */
function sinceText({ timeNs, sinceNs }: LinkFailureEvent): string {
  const ms = Number(BigInt(timeNs) - BigInt(sinceNs)) / 1e6;
  return ms > 0 ? `for ${spanText(ms)}` : 'any more';
}

const subjectOf = ({ link: [from, to] }: LinkFailureEvent): string =>
  `avoid ${Math.min(from, to)}-${Math.max(from, to)}`;
