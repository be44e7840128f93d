// A flow monitor: telemetry reports from UDP or a capture, into flow caches on worker threads, into Redis.
import { isIPv6 } from 'node:net';
import { formatUdpAddress, SourceError, UdpSource } from '@int/collector';
import { type ControlOptions, listen } from './monitor/control.js';
import { Monitor } from './monitor/monitor.js';
import { type MonitorOptions, readOptions, UsageError } from './monitor/options.js';
import { imbalances, lossesOf, summary } from './monitor/summary.js';

const say = (text: string): void => console.error(text);

function formatHttp({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** @throws what keeps it from listening (rejects), when the monitor has stopped */
async function listening(monitor: Monitor, options: ControlOptions): ReturnType<typeof listen> {
  try {
    return await listen(monitor, options);
  } catch (error) {
    await monitor.stop();
    throw error;
  }
}

async function run(options: MonitorOptions): Promise<number> {
  const monitor = await Monitor.start(options, say);
  if (monitor.source instanceof UdpSource) say(`listening at ${formatUdpAddress(monitor.source.address)}`);
  const control = options.control === null ? null : await listening(monitor, options.control);
  if (control !== null)
    say(`orders at ${control.address === null ? options.control!.address : formatHttp(control.address)}`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    void monitor.finished.then(resolve);
  });
  say('stopping: all flows go through the rings');
  const totals = await monitor.stop();
  await control?.close();
  for (const line of summary(totals)) console.log(line);
  console.log(JSON.stringify({ ...totals, losses: lossesOf(totals), balanced: imbalances(totals).length === 0 }));
  return imbalances(totals).length === 0 ? 0 : 1;
}

try {
  process.exitCode = await run(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof UsageError || SourceError.is(error) ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 3;
}
