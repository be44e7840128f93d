/** A stream processor; start as many as there are partitions, on as many machines. Arguments: brokers, group, prefix of the topics. */
import { Processor } from '@int/stream-kafka';
import type { ProcessorMessage } from './messages.js';

const [brokers = '', group = '', prefix = '', queueThreshold = '32'] = process.argv.slice(2);

const tell = (message: ProcessorMessage): void => {
  if (process.connected) process.send?.(message);
};

const processor = new Processor({
  bootstrap: brokers.split(','),
  group,
  prefix,
  sessionMs: 6000,
  networkSide: { queueThreshold: Number(queueThreshold) },
  onEvent: (event) => tell({ name: 'event', event }),
  onAssigned: () => {
    const { partitions, hasNetworkSide } = processor.totals();
    tell({ name: 'assigned', partitions, hasNetworkSide });
  },
  onProblem: (reason) => tell({ name: 'problem', reason }),
});
await processor.start();

async function stop(): Promise<void> {
  await processor.stop();
  process.exit(0);
}
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
// Without the program that started it, nobody reads what it finds.
process.once('disconnect', () => void stop());
