/** The command line. */
import { parseArgs } from 'node:util';

export interface FabricOptions {
  readonly collector: { readonly host: string; readonly port: number };
  readonly leaves: number;
  readonly spines: number;
  /** Hosts of each leaf. */
  readonly hosts: number;
  /** Real time; `null`: until `packets` are sent, or until it is interrupted. */
  readonly seconds: number | null;
  /** Packets that hosts send, all together; `null`: any number. */
  readonly packets: number | null;
  /** Packets a second that hosts send, in virtual and real time; 0: as fast as possible. */
  readonly rate: number;
  readonly rules: string | null;
  readonly pcap: string | null;
  /** The link that `pcap` is of. */
  readonly tap: string;
  readonly seed: number;
  readonly json: boolean;
}

const USAGE = `Usage: node dist/fabric.js [options]
  --collector HOST:PORT  where telemetry reports go, as UDP datagrams (default 127.0.0.1:32766)
  --leaves N             leaf switches: INT sources and sinks (default 4)
  --spines N             spine switches (default 2)
  --hosts N              hosts of each leaf (default 4)
  --seconds S            ends after so long (default 10; until interrupted: 0)
  --packets N            ends after so many packets of hosts, and when they have arrived
  --rate R               packets a second of all hosts, in real time; 0: as fast as possible (default 2000)
  --rules FILE           event detection in the sinks: rules as 'int collect' takes them (default: report each packet)
  --pcap FILE            capture of a link
  --tap A:B              which one, by the names of its ends (default leaf1:spine1)
  --seed S               of the traffic (default 1)
  --json                 the totals as a JSON object`;

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
      collector: { type: 'string', default: '127.0.0.1:32766' },
      leaves: { type: 'string', default: '4' },
      spines: { type: 'string', default: '2' },
      hosts: { type: 'string', default: '4' },
      seconds: { type: 'string' },
      packets: { type: 'string' },
      rate: { type: 'string', default: '2000' },
      rules: { type: 'string' },
      pcap: { type: 'string' },
      tap: { type: 'string', default: 'leaf1:spine1' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}

/** `HOST:PORT`, or `[IPv6]:PORT`. */
function collectorOf(text: string): FabricOptions['collector'] {
  const found = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text);
  if (found === null) return fail(`--collector must be HOST:PORT, not '${text}'`);
  return { host: found[1] ?? found[2]!, port: number('collector', found[3]!, 1, 65_535) };
}

/** @returns what to do, or the help that was asked for. @throws UsageError with what is wrong and how it is done */
export function readOptions(args: readonly string[]): FabricOptions | string {
  const flags = ((): ReturnType<typeof parse> => {
    try {
      return parse(args);
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  if (flags.help) return USAGE;
  const packets = flags.packets === undefined ? null : number('packets', flags.packets, 1, 2 ** 32 - 1);
  const seconds = number('seconds', flags.seconds ?? (packets === null ? '10' : '0'), 0, 1e6, false);
  return {
    collector: collectorOf(flags.collector),
    leaves: number('leaves', flags.leaves, 2, 32),
    spines: number('spines', flags.spines, 1, 32),
    hosts: number('hosts', flags.hosts, 1, 32),
    seconds: seconds === 0 ? null : seconds,
    packets,
    rate: number('rate', flags.rate, 0, 1e7, false),
    rules: flags.rules ?? null,
    pcap: flags.pcap ?? null,
    tap: flags.tap,
    seed: number('seed', flags.seed, 0, 2 ** 32 - 1),
    json: flags.json,
  };
}
