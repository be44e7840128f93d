const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/gpint.GpintError') as never;

/** Codes of errors about topologies, plans and probes. New codes are appended; codes are never renamed. */
export type GpintErrorCode =
  /** A topology file cannot be parsed; `line` is the position. */
  | 'ERR_GPINT_TOPOLOGY'
  /** A name or number is not a node of the graph. */
  | 'ERR_GPINT_UNKNOWN_NODE'
  /** The graph has no nodes. */
  | 'ERR_GPINT_EMPTY_GRAPH'
  /** The graph is disconnected, and planning per component was not requested. `components` names the parts. */
  | 'ERR_GPINT_DISCONNECTED'
  /** No plan exists: fewer paths than components, or a component without an entry point. */
  | 'ERR_GPINT_NO_PLAN'
  /** A path, hop or switch does not fit into a probe of the layout. */
  | 'ERR_GPINT_PROBE_LIMIT'
  /** A socket of the monitor cannot be opened or used. */
  | 'ERR_GPINT_SOCKET';

/** Details of an error in addition to its message. */
export interface GpintErrorDetails {
  /** Line of a topology file, from 1; 0 if not applicable. */
  readonly line?: number;
  /** Names of the nodes of each component, largest component first. */
  readonly components?: readonly (readonly string[])[];
  readonly cause?: unknown;
}

/** Thrown for impossible topologies, plans and probes. Wrong arguments cause a TypeError or RangeError instead. */
export class GpintError extends Error {
  override readonly name = 'GpintError';
  readonly code: GpintErrorCode;
  readonly line: number;
  readonly components: readonly (readonly string[])[];

  constructor(code: GpintErrorCode, message: string, details: GpintErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.line = details.line ?? 0;
    this.components = details.components ?? [];
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is GpintError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
