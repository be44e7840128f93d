import { Admin } from '@platformatic/kafka';
import { KAFKA_TOPIC } from './parts.js';

/** Makes the topic that producers write to, with one partition. @param bootstrap `host:port` of the brokers */
export async function createTopic(bootstrap: readonly string[]): Promise<void> {
  const admin = new Admin({ clientId: 'setup', bootstrapBrokers: [...bootstrap], retries: 100, retryDelay: 300 });
  try {
    await admin.createTopics({ topics: [KAFKA_TOPIC], partitions: 1, replicas: 1 });
  } finally {
    await admin.close();
  }
}
