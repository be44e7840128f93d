import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { type Outage, RECORD_KINDS, type RecordKind } from '@int/collector';
import { integer, MAX_MS, oneOf, text } from '@int/collector/internals';
import type { Topology } from '@int/network';
import { COMPRESSIONS, type Compression } from './client/record-batch.js';
import type { KafkaSinkError } from './errors.js';
import { MESSAGE_FORMATS, type MessageEncoder, type MessageFormat } from './message/encoder.js';
import { MIN_SLAB_BYTES } from './message/slab.js';
import { SPOOL_SYNCS, type SpoolSync } from './spool/spool.js';

/** Names of topics. */
export interface KafkaTopics {
  /** The prefix of default names. Default `int.`: the topics are `int.reports`, `int.events`, `int.flows`. */
  readonly prefix?: string;
  readonly reports?: string;
  readonly events?: string;
  readonly flows?: string;
}

/** How to log in with a name and a password, or with a token. */
export interface KafkaLogin {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512' | 'OAUTHBEARER';
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}

/** Where messages are kept while the brokers are away. */
export interface SpoolOptions {
  /** The folder of the spool, not shared with other sinks. It is created if missing. */
  readonly directory: string;
  /** Bytes on disk at most, at least 4 times `batchBytes`. Default 1 GiB. */
  readonly limitBytes?: number;
  /**
   * When bytes are forced onto the disk, against a failure of the machine: `never`; after each `segment` of at most 16
   * MiB; after each `chunk` of at most `batchBytes`, or after each commit with `durability: 'spool'`. The end of the
   * process alone never loses spooled messages. Default `chunk` with `durability: 'spool'`, else `segment`.
   */
  readonly sync?: SpoolSync;
  /** With `durability: 'spool'`: shortest time between the begins of two commits, in ms. Default 5. */
  readonly commitMs?: number;
}

/** What has happened to a record when the pipeline goes on. */
export type Durability = 'memory' | 'spool';

/** Options of a sink. */
export interface KafkaSinkOptions {
  /** Addresses of some brokers, `host:port`; one that answers is enough. */
  readonly bootstrap: readonly string[];
  /** The name of the sink in the collector. Default `kafka`. */
  readonly name?: string;
  /** The kinds of records to send. Default: reports, events and flows. */
  readonly records?: readonly RecordKind[];
  readonly topics?: KafkaTopics;
  /**
   * Creation of missing topics, at the first record: their partitions and replicas, by default the brokers' numbers.
   * `false`: topics are not created.
   */
  readonly createTopics?: false | { readonly partitions?: number; readonly replicas?: number };
  /** How values are written. Default `protobuf`. */
  readonly format?: MessageFormat;
  /**
   * Names of switches and ports. Messages then have `nodeName`, `l1IngressName`, `l1EgressName` and `pathNames` beside the ids. Default:
   * none.
   */
  readonly names?: Topology;
  /** The encoder of the messages. Default: that of `format`. */
  readonly encoder?: MessageEncoder;
  /** Default `lz4`. `zstd` needs Node 22.15 or newer. */
  readonly compression?: Compression;
  /**
   * What to do when memory is full: `wait` holds the pipeline up, `drop` drops new records and counts them. With a
   * spool, this applies only when the spool takes no more. Default `wait`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /**
   * Where a record is when the pipeline goes on. `memory`: in memory, and lost if the process is killed. `spool`: on
   * disk in the spool, or stored by the brokers. In both cases a spool keeps records that do not fit into memory during
   * an outage. Default `memory`.
   */
  readonly durability?: Durability;
  /** Bytes of messages in memory, at least 4 times `batchBytes`. Default 16 MiB. */
  readonly memoryBytes?: number;
  /**
   * Bytes of keys and values that are sent together at most, over all partitions. Default 512 KiB; at least 256 KiB, which
   * the longest report needs.
   */
  readonly batchBytes?: number;
  /** Messages that are sent together at most. Default 8192. */
  readonly batchMessages?: number;
  /**
   * Longest time that a record waits for others before it is sent, in ms, if nothing else is being sent. Default 20.
   */
  readonly lingerMs?: number;
  readonly spool?: SpoolOptions;
  /**
   * Interval of watermarks in each partition of the topic of reports, in ms. A watermark tells readers the time up to
   * which all reports are there, so that they can close time windows. Default 500; 0: none.
   */
  readonly watermarkMs?: number;
  /** Connects with TLS. */
  readonly tls?: TlsOptions;
  readonly sasl?: KafkaLogin;
  /** Default `int`. */
  readonly clientId?: string;
  /** Time limit for connecting to a broker, in ms. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Time limit for any answer of a broker, in ms; then the request is repeated. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** Default time limit of `close`, in ms. Default 10,000. */
  readonly closeTimeoutMs?: number;
  /** Waiting time after the first failure and at most, in ms. It doubles with each failure. Default 100 and 5000. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number };
  /** 16 hexadecimal digits with which the ids of the records begin. Default: random. */
  readonly instance?: string;
  /** Called on problems: in an outage once per code, and for each loss. The sink goes on. */
  readonly onProblem?: (problem: KafkaSinkError) => void;
  /** Called when an outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
  /** From 0 to below 1; spreads attempts. Default Math.random. */
  readonly random?: () => number;
}

export type ResolvedOptions = ReturnType<typeof resolveOptions>;

const KIB = 1024;
const MIB = KIB * KIB;

function topicName(name: string, value: string): string {
  if (!/^[a-zA-Z0-9._-]{1,249}$/.test(value) || value === '.' || value === '..') {
    throw new TypeError(`${name} must be the name of a topic, not ${JSON.stringify(value)}`);
  }
  return value;
}

/** @throws TypeError or RangeError that names the option */
export function resolveOptions(options: KafkaSinkOptions) {
  const { bootstrap, createTopics = {}, records = RECORD_KINDS, retry = {}, sasl, spool, tls, topics = {} } = options;
  if (!Array.isArray(bootstrap) || bootstrap.length === 0) throw new TypeError('bootstrap must name a broker');
  for (const address of bootstrap) {
    if (!/^.+:\d+$/.test(address)) throw new TypeError(`bootstrap: not host:port: ${address}`);
  }
  const kinds = RECORD_KINDS.filter((kind) => records.includes(kind));
  for (const kind of records) oneOf('records', kind, RECORD_KINDS);
  if (kinds.length === 0) throw new TypeError('records must name what to send');
  const batchBytes = integer('batchBytes', options.batchBytes ?? 512 * KIB, MIN_SLAB_BYTES, 64 * MIB);
  const memoryBytes = integer(
    'memoryBytes',
    options.memoryBytes ?? Math.max(16 * MIB, 4 * batchBytes),
    4 * batchBytes,
    Number.MAX_SAFE_INTEGER,
  );
  const durability = oneOf('durability', options.durability ?? 'memory', ['memory', 'spool']);
  if (durability === 'spool' && spool === undefined) throw new TypeError("durability 'spool' needs a spool");
  const retryFirstMs = integer('retry.firstMs', retry.firstMs ?? 100, 1, MAX_MS);
  const prefix = topics.prefix ?? 'int.';
  /** By number of the kind. */
  const names = RECORD_KINDS.map((kind) => topicName(`topics.${kind}`, topics[kind] ?? `${prefix}${kind}`));
  if (new Set(names).size < names.length) throw new TypeError('topics must differ: one for each kind of record');
  return {
    name: text('name', options.name ?? 'kafka'),
    access: {
      bootstrap: [...bootstrap],
      clientId: text('clientId', options.clientId ?? 'int'),
      connectTimeoutMs: integer('connectTimeoutMs', options.connectTimeoutMs ?? 5000, 1, MAX_MS),
      requestTimeoutMs: integer('requestTimeoutMs', options.requestTimeoutMs ?? 15_000, 1, MAX_MS),
      ...(tls === undefined ? {} : { tls }),
      ...(sasl === undefined ? {} : { sasl }),
    },
    kinds,
    topics: names,
    create:
      createTopics === false
        ? null
        : {
            partitions: integer('createTopics.partitions', createTopics.partitions ?? -1, -1, 1 << 20),
            replicas: integer('createTopics.replicas', createTopics.replicas ?? -1, -1, 1 << 15),
          },
    format: options.encoder?.format ?? oneOf('format', options.format ?? 'protobuf', MESSAGE_FORMATS),
    encoder: options.encoder ?? null,
    compression: oneOf('compression', options.compression ?? 'lz4', COMPRESSIONS),
    whenFull: oneOf('whenFull', options.whenFull ?? 'wait', ['wait', 'drop']),
    durability,
    parcels: Math.floor(memoryBytes / batchBytes),
    batchBytes,
    batchMessages: integer('batchMessages', options.batchMessages ?? 8192, 1, 1 << 20),
    lingerMs: integer('lingerMs', options.lingerMs ?? 20, 0, MAX_MS),
    spool:
      spool === undefined
        ? null
        : {
            directory: text('spool.directory', spool.directory),
            limitBytes: integer(
              'spool.limitBytes',
              spool.limitBytes ?? Math.max(1024 * MIB, 4 * batchBytes),
              4 * batchBytes,
              Number.MAX_SAFE_INTEGER,
            ),
            sync: oneOf('spool.sync', spool.sync ?? (durability === 'spool' ? 'chunk' : 'segment'), SPOOL_SYNCS),
            commitMs: integer('spool.commitMs', spool.commitMs ?? 5, 0, MAX_MS),
          },
    watermarkMs: integer('watermarkMs', options.watermarkMs ?? 500, 0, MAX_MS),
    closeTimeoutMs: integer('closeTimeoutMs', options.closeTimeoutMs ?? 10_000, 0, MAX_MS),
    retryFirstMs,
    retryMaxMs: integer('retry.maxMs', retry.maxMs ?? Math.max(5000, retryFirstMs), retryFirstMs, MAX_MS),
    instance: options.instance,
    onProblem: options.onProblem ?? (() => undefined),
    onRecovered: options.onRecovered ?? (() => undefined),
    random: options.random ?? Math.random,
  };
}
