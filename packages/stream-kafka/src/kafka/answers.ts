/** Error codes of brokers, grouped by the reaction to them. */

/** Retry soon: a decision is being written, or the coordinator is starting. */
export const BUSY = ['CONCURRENT_TRANSACTIONS', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE'];
/** The coordinator has moved: look it up again. */
export const ELSEWHERE = ['NOT_COORDINATOR', 'COORDINATOR_NOT_AVAILABLE'];
/** The partition has another leader, or none at the moment. */
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
/** Another process has taken over this transactional id. */
export const FENCED = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING'];
/** The group is between two generations, in the next one, or has removed this member. */
export const OTHER_GENERATION = ['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'UNKNOWN_MEMBER_ID'];

/** Whether an error of the client is or contains one of these error codes. */
export function has(error: unknown, answers: readonly string[]): boolean {
  return contains(error, (code) => typeof code === 'string' && answers.includes(code));
}

/** Whether an error contains a broker's answer. */
export function isAnswer(error: unknown): boolean {
  return contains(error, () => true);
}

function contains(error: unknown, isWanted: (code: unknown) => boolean): boolean {
  if (!(error instanceof Error)) return false;
  if ('apiId' in error && isWanted(error.apiId)) return true;
  if (error instanceof AggregateError && error.errors.some((inner) => contains(inner, isWanted))) return true;
  return contains(error.cause, isWanted);
}

/** The broker's answer, which the client attaches to its error; null if there is none. */
export function answerIn(error: unknown): unknown {
  return error instanceof Error && 'response' in error ? error.response : null;
}
