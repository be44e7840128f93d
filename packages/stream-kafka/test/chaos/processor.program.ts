/** A processor, until it is ended. Argument: a {@link ProcessorSetting}. Says its totals some times a second. */
import { writeSync } from 'node:fs';
import { ProcessError, Processor } from '@int/stream-kafka';
import { PARTITIONS } from '../processor-options.js';
import { EXIT_NOT_BEGUN, type ProcessorSetting } from './settings.js';

const { access, prefix } = JSON.parse(process.argv[2]!) as ProcessorSetting;
const say = (what: string, detail: unknown): void => {
  writeSync(1, `${what} ${JSON.stringify(detail)}\n`);
};
const processor = new Processor({
  ...access,
  prefix,
  partitions: PARTITIONS,
  sessionMs: 6000,
  commitMs: 200,
  waitMs: 6000,
  onProblem: (reason) => say('problem', reason),
});
await processor.start().catch((error: unknown) => {
  if (!(error instanceof ProcessError)) throw error;
  say('problem', error.message);
  process.exit(EXIT_NOT_BEGUN);
});
const telling = setInterval(() => say('totals', processor.totals()), 200);
process.once('SIGTERM', () => {
  clearInterval(telling);
  void processor.stop().then(() => {
    say('totals', processor.totals());
    process.exit(0);
  });
});
