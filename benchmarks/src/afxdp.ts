/**
 * Receiving telemetry reports: AF_XDP here and in C, sockets here and in C, a filter in the kernel, and the monitor of the
 * event detection paper (figure 3). Processor time per report on the core that receives, the kernel's included.
 *
 * Everything happens in a network namespace of its own, which needs root and two processors; where that is not possible,
 * a line says why. `--short`: fewer contenders and rounds, no search for rates. `--only speed,filter,monitor`: these parts alone,
 * which replace those in the file of results; `--rounds N`, `--no-file`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { xdpSupport } from '@int/afxdp';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { checkMessages } from './afxdp/agreement.js';
import { breakEven, filterTargets, measureFiltering } from './afxdp/filtering.js';
import { measureMonitor } from './afxdp/monitor.js';
import { Cable, enterNamespace, insideNamespace } from './afxdp/network.js';
import { buildPrograms, Sender } from './afxdp/programs.js';
import { monitorChart, printFiltering, printMonitor, printSpeed } from './afxdp/results.js';
import { type Bench, DRIVER_RATES, measureSpeed, speedTargets } from './afxdp/speed.js';

const { isInside, args } = insideNamespace(process.argv.slice(2));
const values = readOptions(
  {
    only: { type: 'string' },
    rounds: { type: 'string' },
  },
  args,
);
const SHORT = values.short;
const PARTS = ['speed', 'filter', 'monitor'] as const;
const parts = partsOf(values.only, PARTS);
const wants = (part: (typeof PARTS)[number]): boolean => parts === null || parts.includes(part);

function leaveOut(reason: string): never {
  console.log(`receiving by AF_XDP is left out: ${reason}`);
  process.exit(0);
}

if (!isInside) {
  const outcome = enterNamespace(fileURLToPath(import.meta.url), args);
  if ('missing' in outcome) leaveOut(outcome.missing);
  process.exit(outcome.status);
}

function layCable(): Cable {
  try {
    return new Cable();
  } catch (error) {
    return leaveOut(`no virtual cable: ${error instanceof Error ? error.message.trim() : String(error)}`);
  }
}

const run = new BenchmarkRun('afxdp', { short: SHORT, args });
const built = buildPrograms();
if ('missing' in built) leaveOut(built.missing);
const cable = layCable();
const support = xdpSupport(cable.interface);
if (!support.ok) leaveOut(support.error.message);
const folder = mkdtempSync(join(tmpdir(), 'int-receiving-'));
const sender = new Sender(cable, folder);
const refusal = await sender.refusal();
if (refusal !== undefined) {
  rmSync(folder, { recursive: true, force: true });
  leaveOut(refusal);
}
try {
  checkMessages(folder);
  const bench: Bench = {
    cable,
    sender,
    isShort: SHORT,
    rounds: Number(values.rounds ?? (SHORT ? 1 : 5)),
    duration: SHORT ? 0.05 : 0.6,
  };
  if (SHORT) {
    console.log(
      'short form: one round at fixed rates; left out are timer and waitSync, UdpSource, other forms of the filter, 0.1 and 50 % events, most shapes',
    );
  }
  const few = { rounds: Math.min(bench.rounds, 3) };
  const speed = wants('speed') ? await measureSpeed(bench) : null;
  if (speed !== null) printSpeed(speed);
  const rate = speed?.find(({ group }) => group === 'driver')?.rate ?? (SHORT ? DRIVER_RATES.short : 1e6);
  const filtering = wants('filter') ? await measureFiltering({ ...bench, ...few }, rate) : null;
  if (filtering !== null) printFiltering(filtering);
  const monitor = wants('monitor')
    ? await measureMonitor({ ...bench, ...few, duration: bench.duration / 2 }, rate)
    : null;
  if (monitor !== null) printMonitor(monitor);

  if (!values['no-file']) {
    const results = {
      compiler: built.compiler,
      ...(speed !== null && { speed, speedTargets: speedTargets(speed) }),
      ...(filtering !== null && {
        filtering,
        breakEven: breakEven(filtering),
        filterTargets: filterTargets(filtering),
      }),
      ...(monitor !== null && { monitor }),
    };
    run.save('afxdp', results, { parts, merge: (before, now) => ({ ...before, ...now }) });
    if (monitor !== null) await run.saveChart('afxdp-monitor', monitorChart(monitor));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
