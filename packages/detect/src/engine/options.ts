import type { AcceleratorMemory } from '@int/codec';

/** How a detector keeps its state. */
export type StateMode =
  /** As a switch: arrays of fixed size, cell = CRC-32 of the flow (or switch id) modulo their length; collisions share a cell. */
  | 'register'
  /** As a host: exact keys, in tables of fixed size whose idle and least recently seen entries give way. */
  | 'exact';

export interface DetectorOptions {
  /** Default `register`. */
  readonly state?: StateMode;
  /**
   * Exact: what perHop and perFlow do with the first value of a switch or flow. `marked`, the default: remember it, and
   * mark its event. `zero`: compare it with 0, as a switch or the kernel's pre-filter does. Without meaning in registers.
   */
  readonly firstSight?: 'marked' | 'zero';
  /** Cells of flow state, 1 to 2^24. Default 65 536. Exact: flows at a time, rounded up to a power of two. */
  readonly flowCells?: number;
  /** Cells of switch state, 1 to 2^20. Default 4096. Exact: switches at a time, rounded up to a power of two. */
  readonly switchCells?: number;
  /** Hop positions that change detectors follow, 1 to 32; hops beyond are counted. Default 8. */
  readonly positions?: number;
  /**
   * Exact: milliseconds after which entries not seen are forgotten, at most 2^31 - 1; 0: never. Default 60 000. Watches: keys not seen
   * for so long make room when there is none.
   */
  readonly idleMs?: number;
  /** Keys that a rule with baseline, rate, absent or burst keeps apart, 1 to 2^20. Default 4096. */
  readonly watchKeys?: number;
  /** Rules at a time, 1 to 2^20. Default 16 384. */
  readonly maxRules?: number;
  /**
   * Bytes of state for all detectors. Default: what the first rules need, plus 128 bytes a flow cell for later rules.
   */
  readonly stateBytes?: number;
  /**
   * Memory of the WebAssembly accelerator, for state and tables. The accelerator works on telemetry and event batches
   * that lie in it too; TypeScript works on others, with the same result. Default: an ArrayBuffer, and TypeScript.
   */
  readonly memory?: AcceleratorMemory;
}

export type ResolvedOptions = Required<Omit<DetectorOptions, 'memory' | 'stateBytes'>>;

const RANGES = {
  flowCells: [1, 1 << 24, 65_536],
  switchCells: [1, 1 << 20, 4096],
  positions: [1, 32, 8],
  idleMs: [0, 2 ** 31 - 1, 60_000],
  watchKeys: [1, 1 << 20, 4096],
  maxRules: [1, 1 << 20, 16_384],
} as const;

/** @throws RangeError for an option out of range */
export function resolveOptions(options: DetectorOptions): ResolvedOptions {
  const state = options.state ?? 'register';
  if (state !== 'register' && state !== 'exact') {
    throw new RangeError(`detector: state must be register or exact, not ${String(state)}`);
  }
  const firstSight = options.firstSight ?? 'marked';
  if (firstSight !== 'marked' && firstSight !== 'zero') {
    throw new RangeError(`detector: firstSight must be marked or zero, not ${String(firstSight)}`);
  }
  const number = (name: keyof typeof RANGES): number => {
    const [minimum, maximum, usual] = RANGES[name];
    const value = options[name] ?? usual;
    if (!Number.isInteger(value) || value < minimum || value > maximum) {
      throw new RangeError(`detector: ${name} must be an integer from ${minimum} to ${maximum}, not ${value}`);
    }
    return value;
  };
  return {
    state,
    firstSight,
    flowCells: number('flowCells'),
    switchCells: number('switchCells'),
    positions: number('positions'),
    idleMs: number('idleMs'),
    watchKeys: number('watchKeys'),
    maxRules: number('maxRules'),
  };
}
