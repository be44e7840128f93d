/** A processor, until it is ended. Arguments: brokers, prefix. Says its totals some times a second. */
import { writeSync } from 'node:fs';
import { Processor } from '../../src/processor.js';
import { PARTITIONS } from '../processor-options.js';

const [brokers, prefix] = process.argv.slice(2);
const say = (what: string, detail: unknown): void => {
  writeSync(1, `${what} ${JSON.stringify(detail)}\n`);
};
const processor = new Processor({
  bootstrap: brokers!.split(','),
  prefix: prefix!,
  partitions: PARTITIONS,
  sessionMs: 6000,
  commitMs: 200,
  waitMs: 6000,
  onProblem: (reason) => say('problem', reason),
});
await processor.start();
const telling = setInterval(() => say('totals', processor.totals()), 200);
process.once('SIGTERM', () => {
  clearInterval(telling);
  void processor.stop().then(() => {
    say('totals', processor.totals());
    process.exit(0);
  });
});
