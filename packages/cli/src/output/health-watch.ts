import type { DegradedPart } from '@int/collector';
import { printable } from './printable.js';

/** Sinks and sources say themselves when their other side is away, and back. */
const TOLD_ELSEWHERE = 'outage';

const keyOf = ({ where, name }: DegradedPart): string => JSON.stringify([where, name]);

/** A degraded state in a line. */
export function degradedText({ where, name, text }: DegradedPart): string {
  return printable(`${where}: ${name}: ${text}`);
}

/** The names of states, each once, for a log: `degraded: shedding, untracked`; '' if there are none. */
export function degradedNames(degraded: readonly DegradedPart[]): string {
  const names = [...new Set(degraded.map(({ name }) => name))];
  return names.length === 0 ? '' : `degraded: ${names.join(', ')}`;
}

/** Tells when degraded states begin, and when they are over. */
export class HealthWatch {
  readonly #ask: () => readonly DegradedPart[];
  readonly #tell: (message: string) => void;
  #last: ReadonlyMap<string, DegradedPart> = new Map();

  /**
   * @param ask what the process suffers from now
   * @param tell says something to people
   */
  constructor(ask: () => readonly DegradedPart[], tell: (message: string) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  /** Looks at it, and tells what has changed since the last look: to be called each second or so. */
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
