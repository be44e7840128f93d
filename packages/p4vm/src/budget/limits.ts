/**
 * What one program may use. Programs may come from anybody: each limit bounds a resource that a short program could ask
 * for without end. Who reaches one gets a diagnostic with code `limit-NAME`, such as `limit-state-bytes`.
 */
export interface Limits {
  /** Files read, each as often as it is included. */
  readonly files: number;
  /** Characters read from files, and made by macros. */
  readonly characters: number;
  /** Tokens read, and made by macros. */
  readonly tokens: number;
  /** Steps of the type check and of the specialisation: about ten for each node of the specialised program. */
  readonly work: number;
  /** Parsers, controls, tables, actions, functions, extern objects and value sets, each as often as it is specialised. */
  readonly instances: number;
  /** Characters of the JavaScript that a program becomes. */
  readonly codeCharacters: number;
  /**
   * Bytes of what a running program keeps: registers, counters, meters, headers, metadata, entries of tables, packets
   * within the switch.
   */
  readonly stateBytes: number;
  /** Steps that one received packet may cause, with all its copies: statements, table lookups, turns of loops. */
  readonly steps: number;
  /** Bytes of a packet that leaves, or goes back to the parser. */
  readonly packetBytes: number;
}

/** Bits of the widest `bit<>` and `int<>`: as many as the reference compiler takes, and the machine's words hold. */
export const MAX_BITS = 2048;

/** Fields, parameters, arguments, cases, keys, actions and the like of one declaration, call or statement. */
export const MAX_MEMBERS = 4096;

export type LimitName = keyof Limits;

/** Limits that serve programs of any size that people write. */
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

/** Names of all limits, in the order of the stages that they bound. */
export const LIMIT_NAMES: readonly LimitName[] = /* @__PURE__ */ Object.freeze(
  Object.keys(DEFAULT_LIMITS) as LimitName[],
);

/** The name of a limit as diagnostics and the command line write it: `stateBytes` is `state-bytes`. */
export function limitLabel(name: LimitName): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * All limits, the default where none is given.
 *
 * @throws RangeError if one is no whole number from 1
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
