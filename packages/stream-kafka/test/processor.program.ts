/** A processor, until it is killed. Arguments: brokers, prefix. Says what it has and when it has committed. */
import { writeSync } from 'node:fs';
import { Processor } from '@int/stream-kafka';
import { optionsFor } from './processor-options.js';

const [brokers, prefix] = process.argv.slice(2);
const say = (text: string): void => {
  writeSync(1, `${text}\n`);
};
const processor = new Processor({
  ...optionsFor(brokers!.split(','), prefix!),
  onAssigned: (partitions) => say(`assigned ${partitions.length}`),
  onProblem: (reason) => say(`problem ${reason}`),
  onWindow: () => say('window'),
});
await processor.start();
