/** What has really arrived, asked of those who have it. */
import { History } from '@int/sink-parquet';
import { Admin, ListOffsetTimestamps } from '@platformatic/kafka';

const TOPICS = ['int.reports', 'int.events', 'int.flows'];

/** Records of the sink. */
export function recordsInKafka(bootstrap: readonly string[]): Promise<number> {
  return recordsIn(bootstrap, TOPICS);
}

/** Records that have been written to topics, those no longer kept included. */
export async function recordsIn(bootstrap: readonly string[], names: readonly string[]): Promise<number> {
  const admin = new Admin({ clientId: 'soak', bootstrapBrokers: [...bootstrap] });
  try {
    const { topics } = await admin.metadata({ topics: [...names] });
    let records = 0n;
    for (const [name, { partitionsCount }] of topics) {
      const partitions = Array.from({ length: partitionsCount }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: ListOffsetTimestamps.LATEST,
      }));
      for (const answer of await admin.listOffsets({ topics: [{ name, partitions }] })) {
        for (const { offset } of answer.partitions) records += offset;
      }
    }
    return Number(records);
  } finally {
    await admin.close();
  }
}

/** Reports, events and flows in the files. */
export async function recordsInParquet(directory: string): Promise<number> {
  const history = await History.open({ directory });
  try {
    let records = 0;
    for (const view of ['reports', 'events', 'flows']) {
      const [row] = await history.rows(`select count(*)::double as n from ${view}`);
      records += Number(row!.n);
    }
    return records;
  } finally {
    await history.close();
  }
}
