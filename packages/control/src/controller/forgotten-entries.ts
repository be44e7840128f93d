import type { ChangePlan } from '../change/change.js';
import { isNetworkName } from '../compile/entries.js';

/** Intents that are named; the journal has all. */
const MOST_NAMED = 8;

/**
 * Entries that a run before has made, and that nothing asks for which this one knows of: without its memory, all that the loop had
 * installed. Of each switch they are looked for once, before anything is removed.
 */
export class ForgottenEntries {
  readonly #seen = new Set<number>();

  /**
   * @param found ids of the switches that were read
   * @param switchText a switch, for people
   * @returns what is about to be removed, in words; `null`: nothing of that kind
   */
  look(
    plan: ChangePlan,
    found: Iterable<number>,
    isKnown: (intent: string) => boolean,
    switchText: (id: number) => string,
  ): string | null {
    const fresh = new Set<number>();
    for (const id of found) if (!this.#seen.has(id)) fresh.add(id);
    if (fresh.size === 0) return null;
    for (const id of fresh) this.#seen.add(id);
    const counts = new Map<string, Map<number, number>>();
    for (const { type, switchId, intents } of plan.flat()) {
      const [name] = intents;
      if (type !== 'delete' || name === undefined || !fresh.has(switchId)) continue;
      if (isNetworkName(name) || isKnown(name)) continue;
      const bySwitch = counts.get(name) ?? new Map<number, number>();
      counts.set(name, bySwitch.set(switchId, (bySwitch.get(switchId) ?? 0) + 1));
    }
    if (counts.size === 0) return null;
    const named = [...counts].slice(0, MOST_NAMED).map(([name, bySwitch]) => {
      const places = [...bySwitch].map(([id, count]) => `${count} at ${switchText(id)}`);
      return `${name} (${places.join(', ')})`;
    });
    const more = counts.size > MOST_NAMED ? ` and ${counts.size - MOST_NAMED} more` : '';
    return `entries of ${named.join(', ')}${more} were made before this start, and nothing that is known asks for them: they are removed`;
  }
}
