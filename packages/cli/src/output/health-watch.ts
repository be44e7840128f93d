import type { DegradedPart } from '@int/collector';
import { printable } from './printable.js';

/** Sinks and sources report outages themselves. */
const TOLD_ELSEWHERE = 'outage';

const keyOf = ({ where, name }: DegradedPart): string => JSON.stringify([where, name]);

export function degradedText({ where, name, text }: DegradedPart): string {
  return printable(`${where}: ${name}: ${text}`);
}

/** The names of states, each once, for a log: `degraded: shedding, untracked`; '' if there are none. */
export function degradedNames(degraded: readonly DegradedPart[]): string {
  const names = [...new Set(degraded.map(({ name }) => name))];
  return names.length === 0 ? '' : `degraded: ${names.join(', ')}`;
}

/** Reports the begin and the end of degraded states. */
export class HealthWatch {
  readonly #ask: () => readonly DegradedPart[];
  readonly #tell: (message: string) => void;
  #last: ReadonlyMap<string, DegradedPart> = new Map();

  /** @param ask returns the present degraded states @param tell prints a message for the user */
  constructor(ask: () => readonly DegradedPart[], tell: (message: string) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  /** Checks the states and reports changes since the last call. Call it about once a second. */
  look(): readonly DegradedPart[] {
    const degraded = this.#ask();
    const states = new Map(degraded.map((part) => [keyOf(part), part]));
    for (const [key, part] of states) {
      if (!this.#last.has(key) && part.name !== TOLD_ELSEWHERE) this.#tell(`degraded: ${degradedText(part)}`);
    }
    for (const [key, part] of this.#last) {
      if (states.has(key) || part.name === TOLD_ELSEWHERE) continue;
      const seconds = Math.max(0, (Date.now() - part.since) / 1000);
      this.#tell(`no longer degraded: ${part.where}: ${part.name}, after ${seconds.toFixed(0)} s`);
    }
    this.#last = states;
    return degraded;
  }
}
