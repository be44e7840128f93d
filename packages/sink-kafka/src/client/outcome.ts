import { AuthenticationError, GenericError, protocolErrorsCodesById, TimeoutError } from '@platformatic/kafka';
import { KafkaSinkError, type KafkaSinkErrorCode } from '../errors.js';

/** What to do after a broker's answer about a batch. */
export const OUTCOME = {
  /** It is stored. */
  STORED: 0,
  /** Send the same bytes again, after a new look-up of the leaders. */
  RETRY: 1,
  /** The brokers want another producer id. */
  NEW_PRODUCER: 2,
  /** Split it into smaller batches. */
  TOO_LARGE: 3,
  /** Give it up. */
  REFUSED: 4,
} as const;
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

/** Numbers of errors in the protocol of Kafka. */
export const PROTOCOL_ERROR = {
  NONE: 0,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  TOPIC_ALREADY_EXISTS: 36,
} as const;

/** By error number; all others are retried. */
const OUTCOMES: ReadonlyMap<number, Outcome> = /* @__PURE__ */ new Map([
  [0, OUTCOME.STORED],
  // DUPLICATE_SEQUENCE_NUMBER: an earlier attempt, whose answer did not arrive, was stored.
  [46, OUTCOME.STORED],
  // OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED
  [45, OUTCOME.NEW_PRODUCER],
  [47, OUTCOME.NEW_PRODUCER],
  [59, OUTCOME.NEW_PRODUCER],
  [49, OUTCOME.NEW_PRODUCER],
  [90, OUTCOME.NEW_PRODUCER],
  // MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE
  [10, OUTCOME.TOO_LARGE],
  [18, OUTCOME.TOO_LARGE],
  // INVALID_TIMESTAMP, UNSUPPORTED_FOR_MESSAGE_FORMAT, INVALID_RECORD, UNSUPPORTED_COMPRESSION_TYPE
  [32, OUTCOME.REFUSED],
  [43, OUTCOME.REFUSED],
  [87, OUTCOME.REFUSED],
  [76, OUTCOME.REFUSED],
]);

/** @param code number in the protocol */
export function outcomeOf(code: number): Outcome {
  return OUTCOMES.get(code) ?? OUTCOME.RETRY;
}

const CODES: Readonly<Record<string, KafkaSinkErrorCode>> = {
  UNKNOWN_TOPIC_OR_PARTITION: 'ERR_KAFKA_TOPIC',
  INVALID_TOPIC_EXCEPTION: 'ERR_KAFKA_TOPIC',
  POLICY_VIOLATION: 'ERR_KAFKA_TOPIC',
  INVALID_PARTITIONS: 'ERR_KAFKA_TOPIC',
  INVALID_REPLICATION_FACTOR: 'ERR_KAFKA_TOPIC',
  TOPIC_AUTHORIZATION_FAILED: 'ERR_KAFKA_DENIED',
  CLUSTER_AUTHORIZATION_FAILED: 'ERR_KAFKA_DENIED',
  SASL_AUTHENTICATION_FAILED: 'ERR_KAFKA_AUTH',
  UNSUPPORTED_SASL_MECHANISM: 'ERR_KAFKA_AUTH',
  ILLEGAL_SASL_STATE: 'ERR_KAFKA_AUTH',
  REQUEST_TIMED_OUT: 'ERR_KAFKA_TIMEOUT',
  COORDINATOR_LOAD_IN_PROGRESS: 'ERR_KAFKA_UNAVAILABLE',
  COORDINATOR_NOT_AVAILABLE: 'ERR_KAFKA_UNAVAILABLE',
  NOT_COORDINATOR: 'ERR_KAFKA_UNAVAILABLE',
  LEADER_NOT_AVAILABLE: 'ERR_KAFKA_UNAVAILABLE',
  NOT_LEADER_OR_FOLLOWER: 'ERR_KAFKA_UNAVAILABLE',
  BROKER_NOT_AVAILABLE: 'ERR_KAFKA_UNAVAILABLE',
  REPLICA_NOT_AVAILABLE: 'ERR_KAFKA_UNAVAILABLE',
  NOT_ENOUGH_REPLICAS: 'ERR_KAFKA_UNAVAILABLE',
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: 'ERR_KAFKA_UNAVAILABLE',
  FENCED_LEADER_EPOCH: 'ERR_KAFKA_UNAVAILABLE',
  UNKNOWN_LEADER_EPOCH: 'ERR_KAFKA_UNAVAILABLE',
  KAFKA_STORAGE_ERROR: 'ERR_KAFKA_UNAVAILABLE',
  NETWORK_EXCEPTION: 'ERR_KAFKA_CONNECTION',
};

/** Names an error of the protocol. @param what it is about, such as a topic */
export function protocolError(code: number, what: string): KafkaSinkError {
  const names: Readonly<Record<number, string>> = protocolErrorsCodesById;
  const name = names[code] ?? `error ${code}`;
  const Problem = MOVED.has(name) ? LeaderMoved : KafkaSinkError;
  return new Problem(CODES[name] ?? 'ERR_KAFKA_UNEXPECTED', `${what}: ${name}`);
}

/**
 * Whether the broker does not lead the partition, or does not know it yet. This is normal when leaders change, and just
 * after a topic was created.
 */
export class LeaderMoved extends KafkaSinkError {}

const MOVED: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_OR_FOLLOWER',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
]);

export function toSinkError(error: unknown): KafkaSinkError {
  if (KafkaSinkError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (hasIn(error, (each) => each instanceof AuthenticationError)) {
    return new KafkaSinkError('ERR_KAFKA_AUTH', message, error);
  }
  if (hasIn(error, (each) => each instanceof TimeoutError))
    return new KafkaSinkError('ERR_KAFKA_TIMEOUT', message, error);
  const name = nameIn(error);
  if (name !== undefined)
    return new KafkaSinkError(CODES[name] ?? 'ERR_KAFKA_UNEXPECTED', `${message}: ${name}`, error);
  return new KafkaSinkError('ERR_KAFKA_CONNECTION', rootOf(error) ?? message, error);
}

/** Whether a broker is not ready yet, or not yet responsible. */
export function isStarting(error: unknown): boolean {
  return STARTING.has(nameIn(error) ?? '');
}

const STARTING: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'COORDINATOR_LOAD_IN_PROGRESS',
  'COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR',
]);

/** The error itself, what caused it, and what it is a collection of. */
function* parts(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 5) return;
  yield error;
  if (error instanceof AggregateError) for (const each of error.errors) yield* parts(each, depth + 1);
  yield* parts(error.cause, depth + 1);
}

function hasIn(error: unknown, test: (error: Error) => boolean): boolean {
  for (const each of parts(error)) if (test(each)) return true;
  return false;
}

function nameIn(error: unknown): string | undefined {
  for (const each of parts(error)) {
    if (GenericError.isGenericError(each) && 'apiId' in each && typeof each.apiId === 'string') return each.apiId;
  }
  return undefined;
}

/** The system's message, such as `connect ECONNREFUSED 127.0.0.1:9092`. */
function rootOf(error: unknown): string | undefined {
  let last: string | undefined;
  for (const each of parts(error)) if (each.message !== '') last = each.message;
  return last;
}
