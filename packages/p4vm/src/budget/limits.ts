/**
 * The resources that one program may use. Programs may come from strangers: each limit bounds a resource that a short
 * program could use up. A program that reaches a limit gets a diagnostic with code `limit-NAME`, such as
 * `limit-state-bytes`.
 */
export interface Limits {
  /** Files read. A file counts each time it is included. */
  readonly files: number;
  /** Characters read from files and made by macros. */
  readonly characters: number;
  /** Tokens read and made by macros. */
  readonly tokens: number;
  /** Steps of the type check and of the specialisation: about ten for each node of the specialised program. */
  readonly work: number;
  /** Parsers, controls, tables, actions, functions, extern objects and value sets. Each specialisation counts. */
  readonly instances: number;
  /** Characters of the JavaScript that a program is compiled to. */
  readonly codeCharacters: number;
  /**
   * Bytes that a running program keeps: registers, counters, meters, headers, metadata, entries of tables, packets
   * within the switch.
   */
  readonly stateBytes: number;
  /** Steps that one received packet and all its copies may take: statements, table lookups, turns of loops. */
  readonly steps: number;
  /** Length in bytes of a packet that leaves the switch or goes back to the parser. */
  readonly packetBytes: number;
}

/** Bits of the widest `bit<>` and `int<>`: the reference compiler takes as many, and the machine's words hold them. */
export const MAX_BITS = 2048;

/** Fields, parameters, arguments, cases, keys, actions and the like of one declaration, call or statement. */
export const MAX_MEMBERS = 4096;

export type LimitName = keyof Limits;

/** The default limits. Programs that people write stay far below them. */
export const DEFAULT_LIMITS: Limits = /* @__PURE__ */ Object.freeze({
  files: 1000,
  characters: 16_777_216,
  tokens: 1_000_000,
  work: 10_000_000,
  instances: 20_000,
  codeCharacters: 8_388_608,
  stateBytes: 134_217_728,
  steps: 16_777_216,
  packetBytes: 262_144,
});

/** Names of all limits, in the order of the compiler's stages. */
export const LIMIT_NAMES: readonly LimitName[] = /* @__PURE__ */ Object.freeze(
  Object.keys(DEFAULT_LIMITS) as LimitName[],
);

/** The name of a limit as diagnostics and the command line write it: `stateBytes` is `state-bytes`. */
export function limitLabel(name: LimitName): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * All limits, with defaults for those that are not given.
 *
 * @throws RangeError if a limit is not a whole number from 1
 */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  const all = { ...DEFAULT_LIMITS };
  for (const name of LIMIT_NAMES) {
    const value = limits[name] ?? DEFAULT_LIMITS[name];
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`limit ${name}: a whole number from 1`);
    all[name] = value;
  }
  return all;
}
