/**
 * Prefixes of ids, by kind of object. Source: p4info.proto, `P4Ids.Prefix`; P4Runtime specification 1.5, "P4Info",
 * "Object Identifiers".
 */
export const PREFIX = /* @__PURE__ */ {
  action: 0x01,
  table: 0x02,
  valueSet: 0x03,
  controllerHeader: 0x04,
  actionProfile: 0x11,
  counter: 0x12,
  directCounter: 0x13,
  meter: 0x14,
  directMeter: 0x15,
  register: 0x16,
  digest: 0x17,
} as const;

export type SymbolKind = keyof typeof PREFIX;

const NAME_BITS = 0xff_ffff;

/** Bob Jenkins' one-at-a-time hash of a text's UTF-8 bytes, as an unsigned 32-bit number. */
function oneAtATime(text: string): number {
  let hash = 0;
  for (const byte of new TextEncoder().encode(text)) {
    hash = (hash + byte) | 0;
    hash = (hash + (hash << 10)) | 0;
    hash ^= hash >>> 6;
  }
  hash = (hash + (hash << 3)) | 0;
  hash ^= hash >>> 11;
  hash = (hash + (hash << 15)) | 0;
  return hash >>> 0;
}

/** What is wrong with an `@id`; see {@link Symbols}. */
export interface IdProblem {
  readonly code: 'ERR_P4INFO_ID_PREFIX' | 'ERR_P4INFO_ID_TWICE' | 'ERR_P4INFO_ID_RANGE';
  readonly message: string;
}

/** Names and ids of the objects of a program that a control plane sees. */
export class Symbols {
  readonly #ids = new Map<SymbolKind, Map<string, number>>();
  readonly #wanted: { readonly kind: SymbolKind; readonly name: string; readonly id: bigint | undefined }[] = [];
  /** Number of symbols that end in these components, joined by dots. */
  readonly #suffixes = new Map<string, number>();
  readonly #names = new Set<string>();

  /** Adds an object with the number of its `@id`, if it has one. A second one of the same kind and name is the first. */
  add(kind: SymbolKind, name: string, id: bigint | undefined): void {
    if (this.#wanted.some((other) => other.kind === kind && other.name === name)) return;
    this.#wanted.push({ kind, name, id });
    if (this.#names.has(name)) return;
    this.#names.add(name);
    for (const suffix of suffixesOf(name)) this.#suffixes.set(suffix, (this.#suffixes.get(suffix) ?? 0) + 1);
  }

  /**
   * Gives ids: those of `@id` first, then prefix and hash of the name. Of names with the same hash, the first in the
   * order of their bytes has it, the others the next free ids.
   *
   * @returns what is wrong with ids of the program
   */
  assign(): IdProblem[] {
    const problems: IdProblem[] = [];
    const taken = new Map<number, string>();
    const give = (kind: SymbolKind, name: string, id: number): void => {
      taken.set(id, name);
      const ids = this.#ids.get(kind) ?? new Map<string, number>();
      this.#ids.set(kind, ids.set(name, id));
    };
    for (const { kind, name, id } of this.#wanted) {
      if (id === undefined) continue;
      const given = prefixed(kind, name, id);
      if (typeof given !== 'number') problems.push(given);
      else if (taken.has(given)) {
        const message = `@id(${id}) of ${name} is that of ${taken.get(given)} as well`;
        problems.push({ code: 'ERR_P4INFO_ID_TWICE', message });
      } else give(kind, name, given);
    }
    const rest = this.#wanted.filter(({ id }) => id === undefined);
    for (const { kind, name } of rest.sort((left, right) => compareBytes(left.name, right.name))) {
      let id = oneAtATime(name) & NAME_BITS;
      while (taken.has(withPrefix(kind, id))) id = (id + 1) & NAME_BITS;
      give(kind, name, withPrefix(kind, id));
    }
    return problems;
  }

  /** The id of an object; 0 if it is not there. */
  id(kind: SymbolKind, name: string): number {
    return this.#ids.get(kind)?.get(name) ?? 0;
  }

  /** The shortest suffix of a name's components that no other name has. */
  alias(name: string): string {
    return suffixesOf(name).find((suffix) => (this.#suffixes.get(suffix) ?? 0) < 2) ?? name;
  }
}

/** The suffixes of a name's components, shortest first. */
function suffixesOf(name: string): string[] {
  const components = name.split('.');
  return components.map((_, index) => components.slice(components.length - 1 - index).join('.'));
}

const withPrefix = (kind: SymbolKind, id: number): number => PREFIX[kind] * 0x100_0000 + id;

/** An `@id` with its prefix: one without gets it. */
function prefixed(kind: SymbolKind, name: string, id: bigint): number | IdProblem {
  if (id <= 0n || id > 0xffff_ffffn) {
    return { code: 'ERR_P4INFO_ID_RANGE', message: `@id(${id}) of ${name} is not from 1 to 4294967295` };
  }
  const number = Number(id);
  const prefix = Math.floor(number / 0x100_0000);
  if (prefix !== 0 && prefix !== PREFIX[kind]) {
    const message = `@id(${id}) of ${name} has the prefix ${hex(prefix)}, not ${hex(PREFIX[kind])}`;
    return { code: 'ERR_P4INFO_ID_PREFIX', message };
  }
  return withPrefix(kind, number % 0x100_0000);
}

const hex = (number: number): string => `0x${number.toString(16).padStart(2, '0')}`;

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/**
 * Ids of match fields, parameters and the like, in order: those given by `@id`, otherwise the position from 1, moved on to
 * the next free number.
 */
export function memberIds(given: readonly (bigint | undefined)[], of: string): number[] | IdProblem {
  const taken = new Set<number>();
  for (const id of given) {
    if (id === undefined) continue;
    if (id <= 0n || id > 0xffff_ffffn) {
      return { code: 'ERR_P4INFO_ID_RANGE', message: `@id(${id}) in ${of} is not from 1 to 4294967295` };
    }
    if (taken.has(Number(id))) return { code: 'ERR_P4INFO_ID_TWICE', message: `@id(${id}) is twice in ${of}` };
    taken.add(Number(id));
  }
  let next = 1;
  return given.map((id) => {
    if (id !== undefined) {
      next++;
      return Number(id);
    }
    while (taken.has(next)) next++;
    taken.add(next);
    return next;
  });
}
