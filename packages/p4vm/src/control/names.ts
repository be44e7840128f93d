import { type ControlErrorCode, refuse } from '../tables/control-error.js';

/** Most parts of a name, from its end, that a search may use. */
const MAX_PARTS = 16;

/**
 * Finds things by full name, or by its end after a dot if no other name has the same end: `ipv4_lpm` for
 * `MyIngress.ipv4_lpm`.
 */
export class NameIndex<T> {
  readonly #full = new Map<string, T>();
  /** Undefined: several things have this suffix. */
  readonly #suffixes = new Map<string, T | undefined>();

  constructor(items: Iterable<T>, nameOf: (item: T) => string) {
    for (const item of items) {
      const name = nameOf(item);
      if (this.#full.has(name)) continue;
      this.#full.set(name, item);
      let dot = name.lastIndexOf('.');
      for (let parts = 0; dot >= 0 && parts < MAX_PARTS; parts++) {
        const suffix = name.slice(dot + 1);
        this.#suffixes.set(suffix, this.#suffixes.has(suffix) ? undefined : item);
        dot = dot === 0 ? -1 : name.lastIndexOf('.', dot - 1);
      }
    }
  }

  /** Undefined if no name, or more than one, has this end. */
  find(name: string): T | undefined {
    return this.#full.get(name) ?? this.#suffixes.get(name);
  }

  /** @throws ControlError with `code` */
  get(name: string, code: ControlErrorCode, what: string): T {
    const item = this.find(name);
    if (item !== undefined) return item;
    const why = this.#suffixes.has(name) ? `${what} ${name} may be several: give its full name` : `no ${what} ${name}`;
    refuse(code, why);
  }

  /** Full names, in order of declaration. */
  names(): readonly string[] {
    return [...this.#full.keys()];
  }

  values(): readonly T[] {
    return [...this.#full.values()];
  }
}
