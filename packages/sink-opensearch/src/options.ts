import { type Outage, RECORD_KINDS, type RecordKind } from '@int/collector';
import { integer, MAX_MS, oneOf } from '@int/collector/internals';
import type { DeviceProfile, Topology, UnitsByMetric } from '@int/network';
import type { OpenSearchSinkError } from './errors.js';
import { ROTATIONS, type Rotation } from './lines/index-name.js';
import type { TemplateOptions } from './templates.js';

/** Credentials. The URL may hold a user name and password instead. */
export type OpenSearchAuth =
  | { readonly username: string; readonly password: string }
  /** Sent as `Authorization: ApiKey ...`, as Elasticsearch makes them. */
  | { readonly apiKey: string }
  /** Sent as `Authorization: Bearer ...`. */
  | { readonly bearer: string };

/** Certificates of an `https://` connection, as `node:tls` takes them. */
export interface OpenSearchTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the server's certificate must have, if not that of the host. */
  readonly servername?: string;
}

/** Options of a sink. */
export interface OpenSearchSinkOptions {
  /**
   * `http://` or `https://` addresses of one or more nodes of a cluster, with a path where a proxy needs one. After a failure
   * the next one is asked.
   */
  readonly nodes: readonly string[];
  readonly auth?: OpenSearchAuth;
  readonly tls?: OpenSearchTls;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the sink, for its pipeline and its metrics. Default `opensearch`. */
  readonly name?: string;
  /**
   * Names of switches and ports. JSON then has `nodeName`, `l1IngressName`, `l1EgressName` and `pathNames` beside the ids.
   * Default: none.
   */
  readonly names?: Topology;
  /**
   * What the units of the numbers are. The numbers stay as the switches reported them; the mapping of each new index names the units
   * in `_meta.units`, as the first line of the command's JSON does. Default: nothing is known.
   */
  readonly device?: DeviceProfile;
  /** The kinds of records to write. Default: events and flows, because reports are many. */
  readonly records?: readonly RecordKind[];
  /** The prefix of index names. Default `int-`. */
  readonly prefix?: string;
  /**
   * How indexes are cut, by the time of the records in UTC: `int-events-2026.11.21`, `int-events-2026.11`, or `int-events` with
   * `none`, which may be an alias or a data stream. Default `day`.
   */
  readonly rotate?: Rotation;
  /** Settings of the index templates that the sink installs at its start; `false`: it installs none. */
  readonly templates?: TemplateOptions | false;
  /** Level of gzip, 1 to 9; 0: none. Default 1. */
  readonly gzip?: number;
  /** Size at which a request is sent, in bytes before compression. Default 2 MiB. */
  readonly batchBytes?: number;
  /** Records of a request at most. Default 4096. */
  readonly batchRecords?: number;
  /** How long records wait for a request to fill, in ms. Default 1000. */
  readonly lingerMs?: number;
  /** Requests under way at a time. Default 2. */
  readonly inFlight?: number;
  /** Memory for records that wait or are under way, in bytes; at least two batches are held. Default 64 MiB. */
  readonly memoryBytes?: number;
  /**
   * `wait`: the pipeline waits for room. `drop`: records without room are dropped and counted as `overflow`. Default
   * `wait`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /** Time limit for a request and its answer, in ms. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Waiting time after the first failure and at most, in ms. It doubles with each failure. Default 100 and 10,000. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number };
  /** Default time limit of `close`, in ms. Default 10,000. */
  readonly closeTimeoutMs?: number;
  /** The instance in the record ids: 16 hexadecimal digits, unique to this sink. Default: random. */
  readonly instance?: string;
  /** Called on problems: in an outage once per code, and once for each kind of refused record. */
  readonly onProblem?: (problem: OpenSearchSinkError) => void;
  /** Called when an outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
  /** From 0 to below 1; spreads attempts. Default Math.random. */
  readonly random?: () => number;
}

export type ResolvedOptions = ReturnType<typeof resolveOptions>;

const MIB = 1 << 20;
/** The servers' rule for index names: no capitals, no characters of paths and patterns. */
const INDEX_PREFIX = /^[a-z0-9][a-z0-9._-]{0,99}$/;

function nodesOf(nodes: readonly string[]): URL[] {
  if (!Array.isArray(nodes) || nodes.length === 0) throw new TypeError('nodes must be addresses, at least one');
  return nodes.map((node: unknown) => {
    const url = typeof node === 'string' && URL.canParse(node) ? new URL(node) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new TypeError(`nodes: an address begins with http:// or https://, not ${String(node)}`);
    }
    return url;
  });
}

/** The value of the header `authorization`; a user in the URL of the first node is that of all. */
function authorization(auth: OpenSearchAuth | undefined, url: URL): string | null {
  const basic = (user: string, password: string): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  if (auth === undefined) {
    if (url.username === '') return null;
    return basic(decodeURIComponent(url.username), decodeURIComponent(url.password));
  }
  if ('apiKey' in auth) return `ApiKey ${auth.apiKey}`;
  if ('bearer' in auth) return `Bearer ${auth.bearer}`;
  return basic(auth.username, auth.password);
}

/** `null`: none is known. */
function unitsOf(device: DeviceProfile | undefined): UnitsByMetric | null {
  if (device === undefined) return null;
  const { switches, ...usual } = device.units();
  const isKnown = switches.length > 0 || Object.values(usual).some((unit) => unit !== null);
  return isKnown ? device.units() : null;
}

/** A listener that throws is a warning of the process, and does not keep records from being sent. */
function guarded<T>(listener: ((told: T) => void) | undefined): (told: T) => void {
  return (told) => {
    try {
      listener?.(told);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
}

/** @throws TypeError or RangeError that names the option */
export function resolveOptions(options: OpenSearchSinkOptions) {
  const nodes = nodesOf(options.nodes);
  const { retry = {}, records = ['events', 'flows'] } = options;
  const prefix = options.prefix ?? 'int-';
  if (!INDEX_PREFIX.test(prefix)) {
    throw new TypeError(
      `prefix must be lower-case letters, digits and ._- and begin with a letter or digit, not ${prefix}`,
    );
  }
  if (records.length === 0) throw new TypeError(`records must be some of ${RECORD_KINDS.join(', ')}`);
  const header = authorization(options.auth, nodes[0]!);
  const batchBytes = integer('batchBytes', options.batchBytes ?? 2 * MIB, 1024, 256 * MIB);
  const retryFirstMs = integer('retry.firstMs', retry.firstMs ?? 100, 1, MAX_MS);
  return {
    nodes,
    headers: { ...options.headers, ...(header === null ? {} : { authorization: header }) },
    tls: options.tls ?? {},
    name: options.name ?? 'opensearch',
    records: new Set(records.map((kind) => oneOf('records', kind, RECORD_KINDS))),
    prefix,
    rotate: oneOf('rotate', options.rotate ?? 'day', ROTATIONS),
    templates: options.templates ?? {},
    units: unitsOf(options.device),
    gzip: integer('gzip', options.gzip ?? 1, 0, 9),
    batchBytes,
    batchRecords: integer('batchRecords', options.batchRecords ?? 4096, 1, 1 << 20),
    lingerMs: integer('lingerMs', options.lingerMs ?? 1000, 0, MAX_MS),
    inFlight: integer('inFlight', options.inFlight ?? 2, 1, 64),
    memoryBytes: integer('memoryBytes', options.memoryBytes ?? 64 * MIB, 1024, 2 ** 36),
    whenFull: oneOf('whenFull', options.whenFull ?? 'wait', ['wait', 'drop']),
    requestTimeoutMs: integer('requestTimeoutMs', options.requestTimeoutMs ?? 30_000, 1, MAX_MS),
    retryFirstMs,
    retryMaxMs: integer('retry.maxMs', retry.maxMs ?? Math.max(10_000, retryFirstMs), retryFirstMs, MAX_MS),
    closeTimeoutMs: integer('closeTimeoutMs', options.closeTimeoutMs ?? 10_000, 0, MAX_MS),
    instance: options.instance,
    onProblem: guarded(options.onProblem),
    onRecovered: guarded(options.onRecovered),
    random: options.random ?? Math.random,
  };
}
