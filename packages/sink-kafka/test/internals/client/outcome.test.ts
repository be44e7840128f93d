import { MultipleErrors, ProtocolError } from '@platformatic/kafka';
import { expect, it } from 'vitest';
import { isStarting, toSinkError } from '../../../src/client/outcome.js';

/** As the client tells of a request that it has tried three times. */
function failed(apiId: string): Error {
  return new MultipleErrors('joinGroup failed 3 times.', [new ProtocolError(apiId)]);
}

it.each(['COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR'])(
  '%s is of brokers that have just begun, and worth another try',
  (apiId) => {
    expect(isStarting(failed(apiId))).toBe(true);
    expect(toSinkError(failed(apiId)).code).toBe('ERR_KAFKA_UNAVAILABLE');
  },
);

it.each(['GROUP_AUTHORIZATION_FAILED', 'UNKNOWN_TOPIC_OR_PARTITION'])('%s is not', (apiId) => {
  expect(isStarting(failed(apiId))).toBe(false);
});
