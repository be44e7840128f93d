/**
 * Names of intents and routes that may be broken: of which a switch has lost entries, or of which nobody knows that all switches
 * have them.
 */
export class Suspects {
  /** By name: the switches that have lost a part; `null`: that may be any. */
  #names: ReadonlyMap<string, ReadonlySet<number> | null> | 'all' = 'all';

  /** `all`: nothing is known yet. */
  get names(): ReadonlySet<string> | 'all' {
    return this.#names === 'all' ? 'all' : new Set(this.#names.keys());
  }

  has(name: string): boolean {
    return this.#names === 'all' || this.#names.has(name);
  }

  /** Whether a switch may have lost a part of it. */
  isAt(name: string, switchId: number): boolean {
    if (this.#names === 'all') return true;
    const where = this.#names.get(name);
    return where === null || where?.has(switchId) === true;
  }

  /** Anything may be broken. */
  addAll(): void {
    this.#names = 'all';
  }

  /** A switch has lost something of these. */
  add(names: Iterable<string>, switchId: number): void {
    if (this.#names === 'all') return;
    const all = new Map(this.#names);
    for (const name of names) {
      const where = all.get(name);
      if (where !== null) all.set(name, new Set([...(where ?? []), switchId]));
    }
    this.#names = all;
  }

  /** All that can be read was read, and what was left of broken paths is gone. @param open names that are not whole again */
  keepOnly(open: ReadonlySet<string>): void {
    const before = this.#names === 'all' ? new Map([...open].map((name) => [name, null])) : this.#names;
    this.#names = new Map([...before].filter(([name]) => open.has(name)));
  }
}
