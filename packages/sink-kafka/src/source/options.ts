import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Outage, PipelineCapacity } from '@int/collector';
import { integer, MAX_MS } from '@int/collector/internals';
import type { KafkaSinkError } from '../errors.js';
import { MESSAGE_FORMATS, type MessageFormat } from '../message/encoder.js';
import type { KafkaLogin } from '../options.js';

export interface KafkaSourceOptions {
  /** Addresses of some brokers, `host:port`; one that answers is enough. */
  readonly bootstrap: readonly string[];
  /** Default `int.reports`. */
  readonly topic?: string;
  /** The consumer group: its members share the partitions of the topic. Default `int`. */
  readonly group?: string;
  /** Where a group without a committed offset begins. Default `earliest`. */
  readonly from?: 'earliest' | 'latest';
  /** How values are written. Default `auto`: as each value's first byte says. */
  readonly format?: MessageFormat | 'auto';
  /** Whether to skip records whose id was seen before. Default true. */
  readonly dropRepeats?: boolean;
  /** Rows of the batch that is filled before it is pushed. */
  readonly capacity?: PipelineCapacity;
  /** Interval of committing offsets, in ms. After a crash, the records of this time are read again. Default 1000. */
  readonly commitMs?: number;
  /**
   * Time after which the group removes a silent member, in ms, at least 6000, the brokers' default minimum. Default
   * 10,000.
   */
  readonly sessionMs?: number;
  /** Connects with TLS. */
  readonly tls?: TlsOptions;
  readonly sasl?: KafkaLogin;
  /** Default `int`. */
  readonly clientId?: string;
  /** Time limit for connecting to a broker, in ms. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Time limit for any answer of a broker, in ms. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** Waiting time after the first failure and at most, in ms. It doubles with each failure. Default 100 and 5000. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number };
  /** Called on problems, in an outage once per code. The source goes on. */
  readonly onProblem?: (problem: KafkaSinkError) => void;
  /** Called when an outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
}

export type ResolvedSourceOptions = ReturnType<typeof resolveSource>;

/** @throws TypeError or RangeError for an invalid option */
export function resolveSource(options: KafkaSourceOptions) {
  const { bootstrap, topic = 'int.reports', group = 'int', from = 'earliest', format = 'auto', retry = {} } = options;
  if (bootstrap.length === 0) throw new RangeError('bootstrap needs the address of at least one broker');
  for (const address of bootstrap) {
    if (!/^.+:\d{1,5}$/.test(address)) throw new TypeError(`bootstrap: ${address} is not host:port`);
  }
  if (topic === '') throw new RangeError('topic must have a name');
  if (group === '') throw new RangeError('group must have a name');
  if (from !== 'earliest' && from !== 'latest') throw new RangeError(`from is earliest or latest, not ${String(from)}`);
  if (format !== 'auto' && !MESSAGE_FORMATS.includes(format)) {
    throw new RangeError(`format is auto, ${MESSAGE_FORMATS.join(' or ')}, not ${String(format)}`);
  }
  const firstMs = integer('retry.firstMs', retry.firstMs ?? 100, 1, MAX_MS);
  return {
    bootstrap,
    topic,
    group,
    from,
    format: format === 'auto' ? undefined : format,
    dropRepeats: options.dropRepeats ?? true,
    commitMs: integer('commitMs', options.commitMs ?? 1000, 0, MAX_MS),
    sessionMs: integer('sessionMs', options.sessionMs ?? 10_000, 6000, MAX_MS),
    tls: options.tls,
    sasl: options.sasl,
    clientId: options.clientId ?? 'int',
    connectTimeoutMs: integer('connectTimeoutMs', options.connectTimeoutMs ?? 5000, 1, MAX_MS),
    requestTimeoutMs: integer('requestTimeoutMs', options.requestTimeoutMs ?? 15_000, 1, MAX_MS),
    firstMs,
    maxMs: integer('retry.maxMs', retry.maxMs ?? 5000, firstMs, MAX_MS),
    onProblem: options.onProblem ?? ((): void => {}),
    onRecovered: options.onRecovered ?? ((): void => {}),
  };
}
