import type { KafkaLink } from '../../src/kafka/link.js';
import { PartitionGroup } from '../../src/partition-group.js';
import { CountingUnit } from './counting-unit.js';

/** The topics of a group that counts. */
export interface CountingTopics {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly state: string;
}

export const PARTITIONS = 4;

export function countingTopics(name: string): CountingTopics {
  return { name, input: `${name}.in`, output: `${name}.out`, state: `${name}.state` };
}

export async function makeCountingTopics(link: KafkaLink, topics: CountingTopics): Promise<void> {
  const make = PARTITIONS;
  await link.topic({ topic: topics.input, partitions: 1, make, replicas: -1 });
  await link.topic({ topic: topics.output, partitions: 1, make, replicas: -1 });
  await link.topic({ topic: topics.state, partitions: 1, make: PARTITIONS + 1, replicas: -1, compacted: true });
}

/** A member of the group. */
export function countingGroup(
  link: KafkaLink,
  topics: CountingTopics,
  tell: (what: string, detail: string) => void,
): PartitionGroup {
  return new PartitionGroup(link, {
    group: topics.name,
    topics: [topics.input],
    stateTopic: topics.state,
    sessionMs: 6000,
    commitMs: 150,
    agreement: 'counting',
    from: 'earliest',
    workFor: ({ partition }) => ({
      statePartition: 1 + partition,
      makeUnit: () => new CountingUnit(topics.output),
      inStep: true,
    }),
    onCommitted: ({ windowCount }) => tell('committed', String(windowCount)),
    onAssigned: (partitions) => tell('assigned', String(partitions.length)),
    onProblem: (reason) => tell('problem', reason),
  });
}
