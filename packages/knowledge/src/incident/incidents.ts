import type { Finding, Incident } from './incident.js';

/** Incidents that may be open at a time. */
const MOST_OPEN = 1024;
/** Entities that one incident lists besides its own. */
const MOST_ALONG = 64;

interface Open {
  incident: Incident;
  /** Time of the last finding. */
  heldMs: number;
  readonly quietMs: number;
}

/**
 * The incidents that are open: one per entity and cause. A finding opens one, or says that it goes on. It closes when no
 * finding has come for its quiet time, so a condition that flickers is one incident.
 */
export class Incidents {
  /** Findings for which there was no room. */
  untracked = 0;
  readonly #open = new Map<string, Open>();
  readonly #told: (incident: Incident) => void;

  /** @param told is given each incident when it opens, and again when it closes */
  constructor(told: (incident: Incident) => void) {
    this.#told = told;
  }

  get open(): readonly Incident[] {
    return Array.from(this.#open.values(), ({ incident }) => incident);
  }

  isOpen(kind: string, entity: string): boolean {
    return this.#open.has(keyOf(kind, entity));
  }

  /** Says that an incident goes on. @returns false if there is none */
  hold(kind: string, entity: string, timeMs: number): boolean {
    const open = this.#open.get(keyOf(kind, entity));
    if (open === undefined) return false;
    open.heldMs = Math.max(open.heldMs, timeMs);
    return true;
  }

  /**
   * @param fromMs when it began, as far as is known
   * @param timeMs now
   * @param quietMs it closes when so long nothing of it was found
   */
  found(finding: Finding, fromMs: number, timeMs: number, quietMs: number): void {
    if (this.hold(finding.kind, finding.entity, timeMs)) return;
    if (this.#open.size >= MOST_OPEN) {
      this.untracked++;
      return;
    }
    const from = Math.round(fromMs);
    const id = `${finding.kind}/${finding.entity}/${from}`;
    const windowMs = Math.round(finding.windowMs);
    const incident: Incident = {
      type: 'incident',
      id,
      state: 'open',
      ...finding,
      windowMs,
      from,
      to: null,
      along: [],
    };
    this.#open.set(keyOf(finding.kind, finding.entity), { incident, heldMs: timeMs, quietMs });
    this.#told(incident);
  }

  /** Merges a finding at another entity of the same path into an incident. @returns false if there is none */
  join(kind: string, entity: string, also: string, timeMs: number): boolean {
    const open = this.#open.get(keyOf(kind, entity));
    if (open === undefined) return false;
    open.heldMs = Math.max(open.heldMs, timeMs);
    const { along } = open.incident;
    if (!along.includes(also) && along.length < MOST_ALONG) {
      open.incident = { ...open.incident, along: [...along, also] };
    }
    return true;
  }

  /** Closes what has been quiet. */
  advance(timeMs: number): void {
    for (const [key, { incident, heldMs, quietMs }] of this.#open) {
      if (timeMs - heldMs < quietMs) continue;
      this.#open.delete(key);
      this.#told({ ...incident, state: 'close', to: Math.round(heldMs) });
    }
  }

  /** Closes all, at the end of the input. */
  finish(): void {
    for (const { incident, heldMs } of this.#open.values())
      this.#told({ ...incident, state: 'close', to: Math.round(heldMs) });
    this.#open.clear();
  }
}

const keyOf = (kind: string, entity: string): string => `${kind}\n${entity}`;
