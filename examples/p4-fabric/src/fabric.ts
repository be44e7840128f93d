// A leaf-spine network of P4 switches: what their sinks report goes to a real collector.
import { RulesError } from '@int/detect';
import { readOptions, UsageError } from './fabric/options.js';
import { runFabric, type Totals } from './fabric/run.js';

const USAGE = 2;
const FAILED = 3;

function linesOf(totals: Totals): string[] {
  const { packets, delivered, dropped, reports, refused, reportsPerSecond, reportsPerProcessorSecond } = totals;
  return [
    `${packets} packets sent by hosts, ${delivered} delivered, ${dropped} dropped in full queues`,
    `${reports} reports sent, ${reportsPerSecond} a second, ${reportsPerProcessorSecond} a second of processor time${refused > 0 ? `; ${refused} refused by the system` : ''}`,
    `${totals.seconds.toFixed(2)} s, ${totals.virtualSeconds.toFixed(2)} s of the network's time`,
  ];
}

const stopping = new AbortController();
process.on('SIGINT', () => stopping.abort());
process.on('SIGTERM', () => stopping.abort());
try {
  const options = readOptions(process.argv.slice(2));
  if (typeof options === 'string') console.log(options);
  else {
    const totals = await runFabric(options, stopping.signal);
    if (options.json) console.log(JSON.stringify({ type: 'total', ...totals }));
    else for (const line of linesOf(totals)) console.log(line);
    process.exitCode = totals.closes ? 0 : 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof UsageError || error instanceof RulesError ? USAGE : FAILED;
}
