/** The command line. */
import { parseArgs } from 'node:util';

export interface MonitorProgramOptions {
  readonly topology: string;
  /** Number of paths; `null`: three for ten switches. */
  readonly paths: number | null;
  /** Probability that a link between switches loses a packet. */
  readonly loss: number;
  /** Links `A-B` and switches `A` that fail. */
  readonly fail: readonly string[];
  /** Links that fail besides. */
  readonly failRandom: number;
  readonly sessions: number;
  readonly seed: number;
  /** t_f, nanoseconds. */
  readonly timeoutNs: number;
  /** r_a. */
  readonly attempts: number;
  /** Switches that the monitor is attached to; none: to all, by links of its own that lose nothing. */
  readonly inBand: readonly string[];
  readonly recover: boolean;
  readonly replan: boolean;
  readonly udp: boolean;
  /** Virtual seconds in a second; 0: as fast as possible; `null`: 1 in a terminal, else as fast as possible. */
  readonly speed: number | null;
  readonly svg: string | null;
  readonly pcap: string | null;
  readonly json: boolean;
}

const USAGE = `Usage: node dist/monitor.js [options]
  --topology T       a generator (watts-strogatz:50:4:0.1, fat-tree:4, leaf-spine:8x4, grid:8x5, ...),
                     or a file: edge list or GraphML (default watts-strogatz:50:4:0.1)
  --paths K          probes of a session (default: three for ten switches)
  --loss P           probability that a link between switches loses a packet, 0 to 0.9 (default 0.05)
  --fail A-B         a link, or a switch A, that does not work; again for more
  --fail-random N    so many links of paths do not work; the network stays in one piece (default 2, 0 with --fail)
  --sessions N       collections, one after the other (default 3)
  --replan           plan around links and switches that two sessions have found dead
  --in-band A[,B]    attach the monitor to these switches only, by lossy links
  --no-recovery      switches keep no copies, lost probes stay lost
  --timeout MS       t_f: how long feedback may take (default 400)
  --attempts N       r_a: how often a switch is tried in vain (default 10)
  --udp              in real time, over UDP sockets of the loopback interface
  --speed X          virtual seconds in a second, 0: as fast as possible (default 1 in a terminal, else 0)
  --svg FILE         a picture of what was found
  --pcap FILE        what passed the monitor's links
  --seed S           of topology, plan, failures and losses (default 1)
  --json             one JSON object a line`;

/** A command line that cannot be followed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

function fail(message: string): never {
  throw new UsageError(`${message}\n${USAGE}`);
}

function number(name: string, text: string, least: number, most: number, isWhole = true): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most && (!isWhole || Number.isInteger(value)))) {
    fail(`--${name} must be ${isWhole ? 'a whole number' : 'a number'} from ${least} to ${most}, not '${text}'`);
  }
  return value;
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      topology: { type: 'string', default: 'watts-strogatz:50:4:0.1' },
      paths: { type: 'string' },
      loss: { type: 'string', default: '0.05' },
      fail: { type: 'string', multiple: true, default: [] },
      'fail-random': { type: 'string' },
      sessions: { type: 'string', default: '3' },
      replan: { type: 'boolean', default: false },
      'in-band': { type: 'string' },
      'no-recovery': { type: 'boolean', default: false },
      timeout: { type: 'string', default: '400' },
      attempts: { type: 'string', default: '10' },
      udp: { type: 'boolean', default: false },
      speed: { type: 'string' },
      svg: { type: 'string' },
      pcap: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}

/** @returns what to do, or the help that was asked for. @throws UsageError with what is wrong and how it is done */
export function readOptions(args: readonly string[]): MonitorProgramOptions | string {
  const flags = ((): ReturnType<typeof parse> => {
    try {
      return parse(args);
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  if (flags.help) return USAGE;
  if (flags.udp && flags.speed !== undefined) fail('--udp runs in real time: not with --speed');
  const inBand = (flags['in-band'] ?? '').split(',').filter((name) => name !== '');
  if (flags['in-band'] !== undefined && inBand.length === 0) fail('--in-band needs the name of a switch');
  return {
    topology: flags.topology,
    paths: flags.paths === undefined ? null : number('paths', flags.paths, 1, 100_000),
    loss: number('loss', flags.loss, 0, 0.9, false),
    fail: flags.fail,
    failRandom: number('fail-random', flags['fail-random'] ?? (flags.fail.length > 0 ? '0' : '2'), 0, 1000),
    sessions: number('sessions', flags.sessions, 1, 1000),
    seed: number('seed', flags.seed, 0, 2 ** 32 - 1),
    timeoutNs: Math.round(number('timeout', flags.timeout, 1, 60_000, false) * 1e6),
    attempts: number('attempts', flags.attempts, 0, 1000),
    inBand,
    recover: !flags['no-recovery'],
    replan: flags.replan,
    udp: flags.udp,
    speed: flags.speed === undefined ? null : number('speed', flags.speed, 0, 1e6, false),
    svg: flags.svg ?? null,
    pcap: flags.pcap ?? null,
    json: flags.json,
  };
}
