// A network monitored by probes: paths are planned, probes walk them, lossy links eat some, and the monitor recovers.
import { GpintError } from '@int/gpint';
import { type MonitorProgramOptions, readOptions, UsageError } from './monitor/options.js';
import { monitor } from './monitor/program.js';

const USAGE = 2;
const FAILED = 3;

/** What is wrong with the topology or the names given is the fault of the command line. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return USAGE;
  return GpintError.is(error) && error.code !== 'ERR_GPINT_SOCKET' ? USAGE : FAILED;
}

async function run(options: MonitorProgramOptions): Promise<number> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on('error', () => process.exit(0));
  const terminal = process.stdout.isTTY === true && !options.json ? process.stdout : null;
  return await monitor(options, (line) => process.stdout.write(`${line}\n`), terminal, stopping.signal);
}

try {
  const options = readOptions(process.argv.slice(2));
  if (typeof options === 'string') console.log(options);
  else process.exitCode = await run(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = exitCodeOf(error);
}
