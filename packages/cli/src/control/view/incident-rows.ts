/** Incidents and hosts, as rows. */
import type { HostRow, IncidentRow } from '@int/dashboard';
import type { HostPhases, Incident } from '@int/knowledge';
import { prefixOf } from '@int/network';
import { entityText } from '../../knowledge/incident-text.js';
import { hostLevel } from '../host-levels.js';
import type { ReadControl } from '../read-control.js';

type Known = Pick<ReadControl, 'topology' | 'intents'>;

/** Closed incidents that are remembered; the open ones are bounded by whoever finds them. */
const MOST_CLOSED = 1000;
/** Proposals that an incident names. */
const MOST_PROPOSALS = 16;

/** The incidents of a run: those that are open, and the last ones that were. */
export class IncidentRows {
  /** Closed since the start. */
  closed = 0;
  /** By id, in the order in which they opened. */
  readonly #incidents = new Map<string, Incident>();
  #remembered = 0;

  /** An incident opens, or closes. */
  take(incident: Incident): void {
    this.#incidents.set(incident.id, incident);
    if (incident.state !== 'close') return;
    this.closed++;
    this.#remembered++;
    if (this.#remembered <= MOST_CLOSED) return;
    for (const [id, { state }] of this.#incidents) {
      if (state !== 'close') continue;
      this.#incidents.delete(id);
      this.#remembered--;
      break;
    }
  }

  get open(): number {
    return this.#incidents.size - this.#remembered;
  }

  get(id: string): Incident | null {
    return this.#incidents.get(id) ?? null;
  }

  /**
   * The newest first.
   * @param now those that are open, as they are now: what is merged into them is told only at their end
   * @param proposals ids by incident, the newest first
   */
  rows(known: Known, now: readonly Incident[], proposals: ReadonlyMap<string, readonly string[]>): IncidentRow[] {
    const newer = new Map(now.map((incident) => [incident.id, incident]));
    return Array.from(this.#incidents.values(), (incident) =>
      incidentRow(
        incident.state === 'open' ? (newer.get(incident.id) ?? incident) : incident,
        known,
        proposals.get(incident.id) ?? [],
      ),
    ).reverse();
  }
}

/** @param proposals that answer it, the newest first */
export function incidentRow(
  incident: Incident,
  { topology, intents }: Known,
  proposals: readonly string[],
): IncidentRow {
  const { type: _, entity, ...rest } = incident;
  const host = entity.startsWith('host:') ? entity.slice('host:'.length) : null;
  const name = host === null ? null : hostLevel({ topology, intents }, host).name;
  const text = entityText(entity, topology);
  return {
    ...rest,
    entity,
    name: name === null ? text : `${name} (${text})`,
    proposals: proposals.slice(0, MOST_PROPOSALS),
  };
}

/** Hosts at which something was seen, and those that the topology or an intent names: the highest score first, then level. */
export function hostRows(known: Known, seen: readonly HostPhases[], open: readonly Incident[]): HostRow[] {
  const { topology, intents } = known;
  const openOf = new Map<string, number>();
  for (const { entity, along } of open) {
    for (const each of [entity, ...along]) openOf.set(each, (openOf.get(each) ?? 0) + 1);
  }
  const rows = new Map<string, HostRow>();
  const add = (host: string, score: number, phases: HostRow['phases']): void => {
    if (rows.has(host)) return;
    const { level, of, name } = hostLevel(known, host);
    rows.set(host, { host, name, level, levelOf: of, score, phases, open: openOf.get(`host:${host}`) ?? 0 });
  };
  for (const { host, score, phases } of seen) add(host, score, phases);
  for (const entity of openOf.keys()) if (entity.startsWith('host:')) add(entity.slice('host:'.length), 0, []);
  for (const { prefixes } of topology.hosts.values()) for (const { text } of prefixes) add(text, 0, []);
  for (const intent of intents) {
    if (intent.kind === 'protect' && prefixOf(intent.destination) !== null) add(intent.destination, 0, []);
  }
  return [...rows.values()].sort((a, b) => b.score - a.score || b.open - a.open || b.level - a.level);
}
