/** What can be wrong with a topology or with what is asked of it. Appended to, never renamed. */
export type GpintErrorCode =
  /** A topology file cannot be parsed; `line` says where. */
  | 'BAD_TOPOLOGY'
  /** A name or number that is not a node of the graph. */
  | 'UNKNOWN_NODE'
  /** The graph has no nodes. */
  | 'EMPTY_GRAPH'
  /** The graph falls into parts, `components` names them, and planning per component was not asked for. */
  | 'DISCONNECTED'
  /** No plan exists: fewer paths than components, or a component without an entry point. */
  | 'NO_PLAN'
  /** A path, hop or switch does not fit into a probe of the layout. */
  | 'PROBE_LIMIT'
  /** A socket of the monitor cannot be opened or used. */
  | 'SOCKET';

/** What an error says besides its message. */
export interface GpintErrorDetails {
  /** Line of a topology file, from 1; 0 where there is none. */
  readonly line?: number;
  /** Names of the nodes of each component, largest component first. */
  readonly components?: readonly (readonly string[])[];
  readonly cause?: unknown;
}

const BRAND = 'GpintError';

/** Thrown for topologies, plans and probes that cannot be. Wrong arguments are TypeErrors and RangeErrors. */
export class GpintError extends Error {
  override readonly name = BRAND;
  readonly code: GpintErrorCode;
  readonly line: number;
  readonly components: readonly (readonly string[])[];

  constructor(code: GpintErrorCode, message: string, details: GpintErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.line = details.line ?? 0;
    this.components = details.components ?? [];
  }

  /** Whether `value` is an error of this class, of any copy of this package. */
  static is(value: unknown): value is GpintError {
    return value instanceof Error && value.name === BRAND && typeof (value as Partial<GpintError>).code === 'string';
  }
}
