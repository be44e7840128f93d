/** The command line. */
import { parseArgs } from 'node:util';

export interface TraceOptions {
  readonly ports: number;
  readonly flows: number;
  /** Bytes of slots. */
  readonly memory: number;
  readonly copies: number;
  readonly seconds: number;
  readonly seed: number;
  readonly json: boolean;
}

const USAGE = `Usage: node dist/trace.js [options]
  --fat-tree K          ports of every switch, even, 4 to 64 (default 8)
  --flows N             flows between hosts of different pods (default 100000)
  --bytes-per-flow B    memory for slots, for each flow (default 60) ...
  --memory BYTES        ... or in all
  --copies N            slots of a flow, 1 to 8 (default 2)
  --seconds S           time in which all flows are reported (default 5)
  --seed S              of the flows (default 1)
  --json                one JSON object a line`;

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
      'fat-tree': { type: 'string', default: '8' },
      flows: { type: 'string', default: '100000' },
      'bytes-per-flow': { type: 'string' },
      memory: { type: 'string' },
      copies: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  }).values;
}

/** @throws UsageError with what is wrong and how it is done */
export function readOptions(args: readonly string[]): TraceOptions {
  const flags = ((): ReturnType<typeof parse> => {
    try {
      return parse(args);
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  const ports = number('fat-tree', flags['fat-tree'], 4, 64);
  if (ports % 2 !== 0) fail(`--fat-tree must be even, not ${ports}`);
  const flows = number('flows', flags.flows, 1, 2_000_000);
  if (flags.memory !== undefined && flags['bytes-per-flow'] !== undefined)
    fail('--memory or --bytes-per-flow, not both');
  const perFlow = number('bytes-per-flow', flags['bytes-per-flow'] ?? '60', 1, 1e6, false);
  const memory = flags.memory === undefined ? Math.floor(perFlow * flows) : number('memory', flags.memory, 24, 2 ** 31);
  if (memory < 24 || memory > 2 ** 31) fail(`${memory} bytes: a slot has 24, the store up to 2^31`);
  return {
    ports,
    flows,
    memory,
    copies: number('copies', flags.copies, 1, 8),
    seconds: number('seconds', flags.seconds, 0.1, 86_400, false),
    seed: number('seed', flags.seed, 0, 2 ** 32 - 1),
    json: flags.json,
  };
}
