/** What brokers say when they refuse something, by what it means here. */

/** Ask again in a moment: a decision is being written, or whoever decides is starting. */
export const BUSY = ['CONCURRENT_TRANSACTIONS', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE'];
/** It is decided elsewhere now: ask where. */
export const ELSEWHERE = ['NOT_COORDINATOR', 'COORDINATOR_NOT_AVAILABLE'];
/** The partition has another leader, or none for the moment. */
export const MOVED = [
  'NOT_LEADER_OR_FOLLOWER',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_LEADER_EPOCH',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_TOPIC_ID',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'REQUEST_TIMED_OUT',
  'KAFKA_STORAGE_ERROR',
];
/** Somebody else has this transactional id now. */
export const FENCED = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING'];
/** The group is between two generations, in the next one, or has gone on without this member. */
export const OTHER_GENERATION = ['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'UNKNOWN_MEMBER_ID'];

/** Whether an error of the client is, or has inside it, one of these answers of a broker. */
export function has(error: unknown, answers: readonly string[]): boolean {
  if (!(error instanceof Error)) return false;
  if ('apiId' in error && typeof error.apiId === 'string' && answers.includes(error.apiId)) return true;
  if (error instanceof AggregateError && error.errors.some((inner) => has(inner, answers))) return true;
  return error.cause !== undefined && has(error.cause, answers);
}

/** Whether a broker has answered at all. */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('apiId' in error) return true;
  if (error instanceof AggregateError && error.errors.some(isAnswer)) return true;
  return error.cause !== undefined && isAnswer(error.cause);
}

/** The answer itself, which the client hands over with the error that it makes of it; null if there is none. */
export function answerIn(error: unknown): unknown {
  return error instanceof Error && 'response' in error ? error.response : null;
}
