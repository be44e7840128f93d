/** The command line of the monitor. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isMetricName, type MetricName } from '@int/codec';
import { HostList } from '@int/collector/http';
import type { ThresholdOptions } from '@int/flowcache';
import type { ControlOptions } from './control.js';

export interface MonitorOptions {
  /** A UDP address to listen on, or a capture. */
  readonly source: { readonly listen: string } | { readonly capture: string };
  readonly shards: number | undefined;
  readonly rows: number | undefined;
  /** Records in each ring, and reports in each slot on the way to a shard. */
  readonly ringRecords: number | undefined;
  readonly idleNs: bigint | undefined;
  readonly thresholds: ThresholdOptions;
  /** Where Redis is; `null`: events and entries are read, counted and dropped. */
  readonly redis: string | null;
  readonly prefix: string;
  /** One record is one field set that any tool can read, or many in one field. */
  readonly form: 'fields' | 'packed';
  readonly control: ControlOptions | null;
  /** Seconds that Redis is given at the end. */
  readonly patienceMs: number;
}

const USAGE = `Usage: node dist/monitor.js (--listen udp://HOST:PORT | --capture FILE) [options]
  --shards N               worker threads (default: one fewer than there are processors)
  --rows N                 rows of 12 flows in all (default 524288)
  --ring-records N         records that each ring holds (default 65536)
  --idle SECONDS           hand on flows without reports for so long
  --level METRIC=N         an event for each value above N; METRIC may be endToEnd
  --change METRIC=N        an event for each value further than N from the flow's previous one
  --path-changes           an event for each change of a path
  --redis URL              redis://HOST:PORT or unix:///PATH; without it nothing is written
  --prefix TEXT            of all keys in Redis (default int)
  --packed                 many records in one field: what Redis needs for hundreds of thousands a second
  --control ADDRESS        HOST:PORT or the path of a Unix socket to take orders at
  --control-token-file F   take orders that change something, from those who send the text in this file as a bearer token
  --control-allow-host H   a further name by which the monitor may be asked; repeat for more
  --patience SECONDS       time that Redis has at the end (default 30)`;

/** A command line that cannot be followed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

function fail(message: string): never {
  throw new UsageError(`${message}\n${USAGE}`);
}

function integer(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text)) fail(`--${name} must be a positive integer, not '${text}'`);
  return Number(text);
}

function seconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0 && value < 1e9)) fail(`--${name} must be a number of seconds above 0, not '${text}'`);
  return value;
}

type Limits = { level?: number; change?: number };

function thresholds(level: readonly string[], change: readonly string[], pathChange: boolean): ThresholdOptions {
  const metrics: { [K in MetricName]?: Limits } = {};
  const endToEnd: Limits = {};
  const take = (kind: 'level' | 'change', text: string): void => {
    const [, name = '', limit = ''] = /^([A-Za-z0-9]+)=(\d{1,10})$/.exec(text) ?? fail(`--${kind} ${text}: METRIC=N`);
    if (name === 'endToEnd') endToEnd[kind] = Number(limit);
    else if (isMetricName(name)) metrics[name] = { ...metrics[name], [kind]: Number(limit) };
    else fail(`--${kind} ${text}: there is no metric '${name}'`);
  };
  for (const text of level) take('level', text);
  for (const text of change) take('change', text);
  return { metrics, endToEnd, pathChange };
}

function control(
  address: string | undefined,
  tokenFile: string | undefined,
  allowHosts: readonly string[],
): ControlOptions | null {
  if (address === undefined) {
    if (tokenFile !== undefined || allowHosts.length > 0)
      fail('--control-token-file and --control-allow-host go with --control');
    return null;
  }
  try {
    new HostList('localhost', allowHosts);
  } catch (error) {
    fail(`--control-allow-host: ${(error as Error).message}`);
  }
  if (tokenFile === undefined) return { address, token: null, allowHosts };
  let token: string;
  try {
    token = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    return fail(`--control-token-file: ${(error as Error).message}`);
  }
  // A short one can be guessed, a blank or a line break in it cannot be sent.
  if (!/^[!-~]{16,}$/.test(token))
    fail(`--control-token-file: ${tokenFile} must hold 16 characters or more, without blanks`);
  return { address, token, allowHosts };
}

/** @throws UsageError with what is wrong and how it is done */
export function readOptions(args: readonly string[]): MonitorOptions {
  const flags = ((): ReturnType<typeof parse> => {
    try {
      return parse(args);
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  const { listen, capture, redis, idle } = flags;
  if ((listen === undefined) === (capture === undefined)) fail('either --listen or --capture is needed');
  const idleSeconds = seconds('idle', idle);
  return {
    source: listen === undefined ? { capture: capture! } : { listen },
    shards: integer('shards', flags.shards),
    rows: integer('rows', flags.rows),
    ringRecords: integer('ring-records', flags['ring-records']),
    idleNs: idleSeconds === undefined ? undefined : BigInt(Math.round(idleSeconds * 1e9)),
    thresholds: thresholds(flags.level, flags.change, flags['path-changes']),
    redis: redis ?? null,
    prefix: flags.prefix,
    form: flags.packed ? 'packed' : 'fields',
    control: control(flags.control, flags['control-token-file'], flags['control-allow-host']),
    patienceMs: (seconds('patience', flags.patience) ?? 30) * 1000,
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      listen: { type: 'string' },
      capture: { type: 'string' },
      shards: { type: 'string' },
      rows: { type: 'string' },
      'ring-records': { type: 'string' },
      idle: { type: 'string' },
      level: { type: 'string', multiple: true, default: [] },
      change: { type: 'string', multiple: true, default: [] },
      'path-changes': { type: 'boolean', default: false },
      redis: { type: 'string' },
      prefix: { type: 'string', default: 'int' },
      packed: { type: 'boolean', default: false },
      control: { type: 'string' },
      'control-token-file': { type: 'string' },
      'control-allow-host': { type: 'string', multiple: true, default: [] },
      patience: { type: 'string' },
    },
  }).values;
}
