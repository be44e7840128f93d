import type { RuleSet } from '@int/detect';
import type { Prefix } from '@int/network';
import { checkInteger } from '../options.js';
import type { XdpMode } from '../program.js';

/** How the filter keeps its state. */
export type KernelStateForm =
  /** Registers: arrays, cell = CRC-32 of the flow (or switch id) modulo their length; collisions share a cell. */
  | 'array'
  /** Hash tables with exact keys. What has no room is handed on, undecided. */
  | 'hash';

export interface PrefilterOptions {
  /** As `compileRules` or `readRules` of `@int/detect` give them. */
  readonly rules: RuleSet;
  /** UDP destination ports of telemetry reports. Default 32766. */
  readonly ports?: readonly number[];
  /** Default `array`. */
  readonly state?: KernelStateForm;
  /** Cells of switch state, 1 to 2^20. Default 4096. Hash: switches at a time, for each metric at first. */
  readonly switchCells?: number;
  /** Cells of flow state, 1 to 2^22. Default 65 536. Hash: flows at a time, for each metric at first. */
  readonly flowCells?: number;
  /**
   * Metrics that each of perHop, perFlow and movingAverage can have state of, from now on to its end: memory for
   * rules that come later. 1 to 17; default: as many as the first rules need, at least 2.
   */
  readonly metricsPerDetector?: number;
  /** UDP destination ports that mark INT, at most 2. Default 5000 and 4096. */
  readonly intPorts?: readonly number[];
  /** DSCP that marks INT, or `null` for none. Default value 0x17 under mask 0x3f. */
  readonly intDscp?: { readonly value: number; readonly mask: number } | null;
  /** Count by switch what is filtered. Default true. */
  readonly countHops?: boolean;
  /**
   * Who may send: addresses and prefixes, at most 4096. Datagrams of others to a port of reports are dropped unread, before they
   * change any state. Default: anybody.
   */
  readonly from?: readonly (string | Prefix)[];
  /**
   * The switches that there are, at most 65,536. Reports that name another one, as the reporting node or as a hop, are dropped before
   * a rule sees them. Default: any id may be one.
   */
  readonly knownSwitches?: Iterable<number>;
}

export interface AttachOptions extends PrefilterOptions {
  readonly interface: string;
  /** Default `auto`: in the driver if that can be, else generic. */
  readonly mode?: 'auto' | XdpMode;
}

/** The options, checked and with the defaults filled in. */
export type ResolvedPrefilterOptions = Required<
  Omit<PrefilterOptions, 'metricsPerDetector' | 'rules' | 'from' | 'knownSwitches'>
> & {
  readonly metricsPerDetector: number | null;
};

const DEFAULT_DSCP = { value: 0x17, mask: 0x3f } as const;

/** @throws RangeError for an option out of range */
export function resolveOptions(options: PrefilterOptions): ResolvedPrefilterOptions {
  const { state = 'array', intDscp = DEFAULT_DSCP, metricsPerDetector, countHops = true } = options;
  if (state !== 'array' && state !== 'hash') {
    throw new RangeError(`prefilter: state must be array or hash, not ${String(state)}`);
  }
  const integer = (name: string, value: number, least: number, most: number): number =>
    checkInteger(`prefilter: ${name}`, value, least, most);
  const ports = (name: string, list: readonly number[]): readonly number[] =>
    list.map((port) => integer(name, port, 0, 0xffff));
  const intPorts = ports('intPorts', options.intPorts ?? [5000, 4096]);
  if (intPorts.length > 2)
    throw new RangeError(`prefilter: the kernel knows at most 2 intPorts, not ${intPorts.length}`);
  if (intDscp !== null) {
    integer('intDscp.value', intDscp.value, 0, 63);
    integer('intDscp.mask', intDscp.mask, 0, 63);
  }
  return {
    ports: ports('ports', options.ports ?? [32766]),
    state,
    switchCells: integer('switchCells', options.switchCells ?? 4096, 1, 1 << 20),
    flowCells: integer('flowCells', options.flowCells ?? 65_536, 1, 1 << 22),
    metricsPerDetector:
      metricsPerDetector === undefined ? null : integer('metricsPerDetector', metricsPerDetector, 1, 17),
    intPorts,
    intDscp,
    countHops,
  };
}
