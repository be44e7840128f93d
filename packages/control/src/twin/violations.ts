import type { ObservedFlow, Violation } from './rehearsal.js';

/** Gathers violations: one for all flows that suffer the same at the same place after the same step. */
export class Violations {
  readonly #found = new Map<string, { -readonly [Key in keyof Violation]: Violation[Key] }>();

  /** @param flow an example; `null`: it is not about flows */
  add(kind: Violation['kind'], step: number, where: string, message: string, flow: ObservedFlow | null = null): void {
    const key = `${kind} ${step} ${where}${flow === null ? ` ${message}` : ''}`;
    const known = this.#found.get(key);
    if (known !== undefined) {
      known.flows++;
      return;
    }
    const text = flow === null ? message : `${message}, such as ${flowText(flow)}`;
    this.#found.set(key, { kind, step, where, flows: flow === null ? 0 : 1, message: text });
  }

  list(): readonly Violation[] {
    return [...this.#found.values()].sort((a, b) => a.step - b.step);
  }
}

function flowText({ source, destination, protocol, sourcePort, destinationPort }: ObservedFlow): string {
  return `${source}:${sourcePort} > ${destination}:${destinationPort} protocol ${protocol}`;
}
