/** Orders over HTTP, on a port or a Unix socket, while the monitor runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMetricName } from '@int/codec';
import { GuardedServer, reply } from '@int/collector/http';
import type { Monitor } from './monitor.js';

const MOST_BYTES = 64 * 1024;

/** What was asked for cannot be done, with the status to say so. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Refusal(413, `the body has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All thresholds, in the form that {@link change} takes. */
function thresholdsOf({ thresholds }: Monitor): object {
  const limits = thresholds.metrics.map((name) => [name, thresholds.get(name)] as const);
  return { ...Object.fromEntries(limits), endToEnd: thresholds.get('endToEnd'), pathChange: thresholds.pathChange };
}

/** Changes those thresholds that are named. Everything is looked at before anything is changed. */
function change({ thresholds }: Monitor, order: unknown): void {
  if (!isObject(order)) throw new Refusal(400, 'an object is needed: {"hopLatency":{"level":1000,"change":null}}');
  const steps: (() => void)[] = [];
  for (const [name, wish] of Object.entries(order)) {
    if (name === 'pathChange') {
      if (typeof wish !== 'boolean') throw new Refusal(400, 'pathChange is true or false');
      steps.push(() => {
        thresholds.pathChange = wish;
      });
      continue;
    }
    const target = name === 'endToEnd' ? name : thresholds.metrics.find((metric) => metric === name);
    if (target === undefined || !isObject(wish)) {
      throw new Refusal(400, isMetricName(name) ? `the monitor does not follow ${name}` : `there is no metric ${name}`);
    }
    const limits: { level?: number | null; change?: number | null } = {};
    for (const [kind, limit] of Object.entries(wish)) {
      const isLimit =
        limit === null || (Number.isInteger(limit) && (limit as number) >= 0 && (limit as number) < 2 ** 32);
      if ((kind !== 'level' && kind !== 'change') || !isLimit) {
        throw new Refusal(400, `${name}: level and change are integers from 0 to 2^32 - 1, or null for never`);
      }
      limits[kind] = limit as number | null;
    }
    steps.push(() => thresholds.set(target, limits));
  }
  for (const step of steps) step();
}

async function distributionsOf(monitor: Monitor): Promise<object> {
  const distributions = await monitor.distributions();
  const figures = (histogram: ReturnType<typeof distributions.endToEnd>): object => ({
    values: histogram.total,
    mean: histogram.mean,
    p50: histogram.percentile(50),
    p99: histogram.percentile(99),
    p100: histogram.percentile(100),
  });
  const switches = distributions.switches().map((node) => {
    const metrics = monitor.thresholds.metrics.flatMap((metric) => {
      const histogram = distributions.histogram(node, metric);
      return histogram === null ? [] : [[metric, figures(histogram)] as const];
    });
    return [node, Object.fromEntries(metrics)] as const;
  });
  return { endToEnd: figures(distributions.endToEnd()), switches: Object.fromEntries(switches) };
}

async function flowOf(monitor: Monitor, query: URLSearchParams): Promise<object> {
  const number = (name: string): number => {
    const value = Number(query.get(name) ?? Number.NaN);
    if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new Refusal(400, `${name} is needed, a number`);
    return value;
  };
  const flow = {
    source: query.get('source') ?? '',
    destination: query.get('destination') ?? '',
    protocol: number('protocol'),
    sourcePort: number('sourcePort'),
    destinationPort: number('destinationPort'),
  };
  const entry = await monitor.flow(flow).catch((error: Error) => {
    throw new Refusal(400, error.message);
  });
  if (entry === undefined) throw new Refusal(404, 'the flow is not in the cache');
  return entry;
}

async function answer(monitor: Monitor, request: IncomingMessage): Promise<object> {
  const url = new URL(request.url ?? '/', 'http://monitor');
  const order = `${request.method} ${url.pathname}`;
  if (order === 'GET /totals') return monitor.totals();
  if (order === 'GET /thresholds') return thresholdsOf(monitor);
  if (order === 'PUT /thresholds') {
    change(monitor, await bodyOf(request));
    return thresholdsOf(monitor);
  }
  if (order === 'GET /distributions') return distributionsOf(monitor);
  if (order === 'GET /flow') return flowOf(monitor, url.searchParams);
  throw new Refusal(404, 'GET /totals, GET or PUT /thresholds, GET /distributions, GET /flow?source=...');
}

/** 64-bit numbers as decimal text. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
}

async function handle(monitor: Monitor, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let status = 200;
  let body: object;
  try {
    body = await answer(monitor, request);
  } catch (error) {
    status = error instanceof Refusal ? error.status : 500;
    body = { error: (error as Error).message };
  }
  reply(response, status, 'application/json', `${toJson(body)}\n`);
}

/** Where orders come in, and who may give them. */
export interface ControlOptions {
  /** `HOST:PORT`, or the path of a Unix socket. */
  readonly address: string;
  /** What orders that change something have to bring along; without it there are none. */
  readonly token: string | null;
  /** Further names by which the monitor may be asked. */
  readonly allowHosts: readonly string[];
}

/**
 * Listens for orders.
 * @throws Error of the system (rejects) if it cannot
 */
export async function listen(monitor: Monitor, { address, token, allowHosts }: ControlOptions): Promise<GuardedServer> {
  const options = { allowHosts, ...(token !== null && { token }) };
  const server = new GuardedServer(options, (request, response) => handle(monitor, request, response));
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? [];
  await server.listen(
    host === undefined ? { path: address } : { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) },
  );
  return server;
}
