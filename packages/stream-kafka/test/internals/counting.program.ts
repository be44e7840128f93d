/** A member of a group that counts, until it is killed. Arguments: brokers, name of the group. */
import { writeSync } from 'node:fs';
import { KafkaLink } from '../../src/kafka/link.js';
import { countingGroup, countingTopics } from './counting-group.js';

const [brokers, name] = process.argv.slice(2);
const link = new KafkaLink({ bootstrap: brokers!.split(',') }, 'child');
const group = countingGroup(link, countingTopics(name!), (what, detail) => {
  writeSync(1, `${what} ${detail}\n`);
});
group.start();
