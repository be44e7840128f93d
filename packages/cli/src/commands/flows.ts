import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { MAX_METRICS } from '@int/flowcache/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CaptureRun } from '../collect/capture-run.js';
import { addCacheOptions, type CacheFlags, flowStageOf } from '../flows/cache-options.js';
import { type FlowListOptions, listFlows } from '../flows/flow-list.js';
import { addSenderOptions, checkKeepUnknown, type SenderFlags } from '../input/senders.js';
import { hasColour, type Io } from '../io.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork } from '../network/known-network.js';
import { unitsLine } from '../network/units-line.js';
import { wholeNumber } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { flowTotals, flowTotalsJson } from '../output/flow-json.js';
import { FLOW_ORDERS } from '../output/flow-order.js';
import { flowTotalsLines } from '../output/flow-table.js';

interface FlowsFlags extends NetworkFlags, CacheFlags, SenderFlags, Omit<FlowListOptions, 'json' | 'network'> {
  readonly json?: true;
}

/**
 * Rows scanned for idle flows: `rows` per batch of 1024 frames, which takes some milliseconds, and `burst` if scans are
 * rare, so that flows of short captures are aged exactly.
 */
const SWEEP = { rows: 1 << 16, burst: 1 << 25 } as const;

function metricList(text: string): MetricName[] {
  const names = text.split(',');
  for (const [index, name] of names.entries()) {
    if (!isMetricName(name)) throw new InvalidArgumentError(`'${name}' is none of ${METRIC_NAMES.join(', ')}.`);
    if (names.indexOf(name) !== index) throw new InvalidArgumentError(`'${name}' is named twice.`);
  }
  if (names.length > MAX_METRICS) throw new InvalidArgumentError(`There are ${MAX_METRICS} at most.`);
  return names as MetricName[];
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command.argument('<FILE>', 'capture to read; - is standard input');
  addCacheOptions(command, 'the cache', 'flows that are silent for longer leave the cache (never)')
    .option('--hops <N>', 'hops to follow (5)', wholeNumber('a number of hops', 1, 64))
    .option(
      '--metrics <NAME,...>',
      'metrics to follow, 8 at most (hopLatency,queueOccupancy,egressUtilization)',
      metricList,
    )
    .addOption(new Option('--sort <KEY>', 'order of the flows, largest first').choices(FLOW_ORDERS).default('packets'))
    .option('--top <N>', 'list so many flows (all)', wholeNumber('a number', 1, 2 ** 32))
    .option('--per-hop', 'a line for each hop, too')
    .option('--json', 'one JSON object per line: flows, then a total');
  addNetworkOptions(addSenderOptions(command)).action(async (file: string, flags: FlowsFlags) => {
    checkKeepUnknown(flags, command);
    done(await flows(file, flags, await readNetwork(flags, io), io));
  });
}

async function flows(file: string, flags: FlowsFlags, network: KnownNetwork, io: Io): Promise<number> {
  const output = new DataOutput(io.stdout);
  const units = flags.json === true ? unitsLine(network.device) : null;
  if (units !== null) output.line(units);
  const stage = flowStageOf(flags, SWEEP);
  // The flows are printed after all input is read.
  const run = new CaptureRun(file, network, { stages: [stage] }, flags, false, output, io);
  const totals = await run.run();
  stage.sweep();

  const found = flowTotals(stage.totals());
  const colour = colours(hasColour(io));
  // After an interruption, flows read so far are listed; a signal during the list ends it.
  const wasInterrupted = io.signal.aborted;
  const isOver = (): boolean => io.signal.aborted && !wasInterrupted;
  const listed = await listFlows(stage.cache, { ...flags, network }, output, colour, isOver);
  if (flags.json === true) output.line(flowTotalsJson(found, totals));
  else for (const line of flowTotalsLines(found, listed, colour, network)) output.line(line);
  return run.end(totals);
}
