// Path tracing in a fat-tree: switches write the paths of flows into memory over RoCEv2, and an operator asks for them.
import { imbalances, TraceCollector } from './trace/collector.js';
import { readOptions, type TraceOptions, UsageError } from './trace/options.js';
import { HEADING, stateJson, stateLine, totalJson, totalLines } from './trace/view.js';

const EVERY_MS = 1000;

async function run(options: TraceOptions): Promise<number> {
  const collector = await TraceCollector.start(options);
  const interrupt = (): void => collector.interrupt();
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  let isAsking = false;
  if (!options.json) console.log(HEADING);
  const timer = setInterval(() => {
    // Asking takes longer than a second only on a very slow machine.
    if (isAsking) return;
    isAsking = true;
    void collector.state().then((state) => {
      isAsking = false;
      console.log(options.json ? JSON.stringify(stateJson(state)) : stateLine(state));
    });
  }, EVERY_MS);
  const report = await collector.finished.finally(() => clearInterval(timer));
  const totals = await collector.stop(report);
  if (options.json) console.log(JSON.stringify(totalJson(collector, totals)));
  else for (const line of [stateLine(totals), ...totalLines(collector, totals)]) console.log(line);
  return imbalances(totals).length === 0 ? 0 : 1;
}

try {
  process.exitCode = await run(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 3;
}
