import type { Profile } from '@int/codec';
import { PROFILES } from '@int/codec/internals';
import type { DetectorOptions, StateMode } from '@int/detect';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given, ifGiven } from './given.js';

/** Values of the decode options, parsed by commander. */
export interface DecodeFlags {
  readonly intPort?: number[];
  readonly intDscp?: { value: number; mask: number };
  readonly greProtocol?: number;
  readonly probeMarker?: bigint;
  readonly reportPort?: number[];
  readonly probePort?: number[];
  readonly profile?: Profile;
}

/** Reads a whole number, decimal or 0x hexadecimal. */
function whole(text: string, what: string, minimum: number, maximum: number): number {
  const value = /^(0[xX][0-9a-fA-F]+|\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum)) {
    throw new InvalidArgumentError(`Give ${what} from ${minimum} to ${maximum}.`);
  }
  return value;
}

export function wholeNumber(what: string, minimum: number, maximum: number): (text: string) => number {
  return (text) => whole(text, what, minimum, maximum);
}

export function positiveNumber(what: string): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError(`Give ${what} above 0.`);
    return value;
  };
}

/** An option parser for a UDP port that may be repeated. */
export function portNumber(text: string, previous?: number[]): number[] {
  return [...(previous ?? []), whole(text, 'a UDP port', 1, 65_535)];
}

function dscp(text: string): { value: number; mask: number } {
  const match = /^([^/]+)(?:\/([^/]+))?$/.exec(text);
  const value = whole(match?.[1] ?? '', 'a DSCP as 0xNN or 0xNN/0xMM,', 0, 0x3f);
  return { value, mask: match?.[2] === undefined ? 0x3f : whole(match[2], 'a DSCP mask', 1, 0x3f) };
}

function marker(text: string): bigint {
  const match = /^(?:0[xX])?([0-9a-fA-F]{1,16})$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Give 64 bits as up to 16 hexadecimal digits.');
  return BigInt(`0x${match[1]!}`);
}

export function addDecodeOptions(command: Command): Command {
  return command
    .option('--int-port <N>', 'UDP port that marks INT; repeat for more (5000, 4096)', portNumber)
    .option('--int-dscp <0xNN[/0xMM]>', 'DSCP that marks INT, with a mask (0x17)', dscp)
    .option('--gre-protocol <N>', 'GRE protocol type of INT (0x88B5)', wholeNumber('a protocol type', 0, 0xffff))
    .option('--probe-marker <HEX64>', '64-bit marker between the L4 header and INT (none)', marker)
    .option(
      '--report-port <N>',
      'UDP port of telemetry reports; repeat for more (any payload that parses strictly)',
      portNumber,
    )
    .option(
      '--probe-port <N>',
      'UDP port of GPINT probes, given twice: of the plain and the extended layout (5017, 5018)',
      (text: string, previous?: number[]) => {
        if (previous?.length === 2) throw new InvalidArgumentError('There are two at most.');
        return portNumber(text, previous);
      },
    )
    .addOption(
      new Option('--profile <NAME>', 'dialect of a tool that deviates from the specifications (spec)').choices(
        PROFILES,
      ),
    );
}

/** Nanoseconds in each unit of time. */
const TIME_UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
};
const DURATION = /^(\d+(?:\.\d+)?)(ns|us|ms|s|min|h)$/;

/** An option parser for a time span such as `10us` or `1.5s`; 0 needs no unit. Returns nanoseconds. */
export function duration(what: string, maximumMs: number): (text: string) => number {
  return (text) => {
    const match = DURATION.exec(text);
    const ns = text === '0' ? 0 : match === null ? Number.NaN : Number(match[1]) * TIME_UNITS[match[2]!]!;
    if (!(ns <= maximumMs * 1e6)) {
      const units = Object.keys(TIME_UNITS).join(', ');
      throw new InvalidArgumentError(`Give ${what} with a unit (${units}), at most ${maximumMs}ms.`);
    }
    return ns;
  };
}

/** Values of the detector's options, parsed by commander. */
export interface DetectFlags {
  readonly state?: StateMode;
  readonly flowCells?: number;
  readonly switchCells?: number;
  /** In nanoseconds. */
  readonly idle?: number;
}

/** Adds the options for the detectors' state, without its expiry. */
export function addStateOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--state <MODE>',
        'register: cells chosen by hash, as in a switch; exact: one for each flow (register)',
      ).choices(['register', 'exact']),
    )
    .option(
      '--flow-cells <N>',
      'cells of flow state; exact: flows at a time (65536)',
      wholeNumber('a number of cells', 1, 1 << 24),
    )
    .option(
      '--switch-cells <N>',
      'cells of switch state; exact: switches at a time (4096)',
      wholeNumber('a number of cells', 1, 1 << 20),
    );
}

export function addDetectOptions(command: Command): Command {
  return addStateOptions(command).option(
    '--idle <DURATION>',
    'with --state exact: forget what was silent for so long, 0: never (60s)',
    duration('a time', 2 ** 31 - 1),
  );
}

/** The detector's options from the flags. Missing flags keep the detector's defaults. */
export function detectOptions(flags: DetectFlags, command: Command): DetectorOptions {
  if (flags.idle !== undefined && flags.state !== 'exact') {
    command.error('error: --idle goes with --state exact: registers are never idle');
  }
  const { state, flowCells, switchCells, idle } = flags;
  // The detector uses whole milliseconds. Round up, because 0 means 'never'.
  return given({ state, flowCells, switchCells, idleMs: ifGiven(idle, (ns) => Math.ceil(ns / 1e6)) });
}

/** The end of the help of commands that take rules: where their language is described, and what values are in. */
export const RULES_HELP = `
Rules: the language is described in the README of @int/detect (packages/detect/README.md), under 'Rules'.
  examples/data/rules.yaml has an example. Values in rules have units: 10us, 64KiB, 80%.
Units: a DURATION is a number with ns, us, ms, s, min or h. Latency, queues and utilisation are shown in the units of the switches,
  unless a device profile says what these are. What to configure for which switch: packages/cli/SWITCHES.md.`;
