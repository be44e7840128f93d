import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Outage, PipelineCapacity } from '@int/collector';
import type { KafkaSinkError } from '../errors.js';
import { MESSAGE_FORMATS, type MessageFormat } from '../message/encoder.js';
import type { KafkaLogin } from '../options.js';

/** Options of a source. */
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

/** Options with their defaults. */
export interface ResolvedSourceOptions {
  readonly bootstrap: readonly string[];
  readonly topic: string;
  readonly group: string;
  readonly from: 'earliest' | 'latest';
  readonly format: MessageFormat | undefined;
  readonly dropRepeats: boolean;
  readonly commitMs: number;
  readonly sessionMs: number;
  readonly tls: TlsOptions | undefined;
  readonly sasl: KafkaLogin | undefined;
  readonly clientId: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly firstMs: number;
  readonly maxMs: number;
  readonly onProblem: (problem: KafkaSinkError) => void;
  readonly onRecovered: (outage: Outage) => void;
}

const MAX_MS = 2 ** 31 - 1;

function milliseconds(name: string, value: number, least: number): number {
  if (!Number.isInteger(value) || value < least || value > MAX_MS) {
    throw new RangeError(`${name} must be an integer from ${least} to ${MAX_MS}, not ${value}`);
  }
  return value;
}

/** @throws TypeError or RangeError for an invalid option */
export function resolveSource(options: KafkaSourceOptions): ResolvedSourceOptions {
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
  const firstMs = milliseconds('retry.firstMs', retry.firstMs ?? 100, 1);
  return {
    bootstrap,
    topic,
    group,
    from,
    format: format === 'auto' ? undefined : format,
    dropRepeats: options.dropRepeats ?? true,
    commitMs: milliseconds('commitMs', options.commitMs ?? 1000, 0),
    sessionMs: milliseconds('sessionMs', options.sessionMs ?? 10_000, 6000),
    tls: options.tls,
    sasl: options.sasl,
    clientId: options.clientId ?? 'int',
    connectTimeoutMs: milliseconds('connectTimeoutMs', options.connectTimeoutMs ?? 5000, 1),
    requestTimeoutMs: milliseconds('requestTimeoutMs', options.requestTimeoutMs ?? 15_000, 1),
    firstMs,
    maxMs: milliseconds('retry.maxMs', retry.maxMs ?? 5000, firstMs),
    onProblem: options.onProblem ?? ((): void => {}),
    onRecovered: options.onRecovered ?? ((): void => {}),
  };
}
