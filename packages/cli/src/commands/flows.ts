import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { FlowStage } from '@int/collector';
import { MAX_METRICS } from '@int/flowcache/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CaptureRun } from '../collect/capture-run.js';
import { given } from '../given.js';
import { CliError, EXIT, hasColour, type Io } from '../io.js';
import { addDecodeOptions, type DecodeFlags, duration, wholeNumber } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { flowJson, flowTotals, flowTotalsJson } from '../output/flow-json.js';
import { FLOW_ORDERS, type FlowOrder, flowsInOrder } from '../output/flow-order.js';
import { flowHeading, flowLine, flowTotalsLines, hopLines } from '../output/flow-table.js';

interface FlowsFlags extends DecodeFlags {
  readonly rows?: number;
  readonly buckets?: number;
  readonly hops?: number;
  readonly metrics?: readonly MetricName[];
  /** In nanoseconds. */
  readonly idle?: number;
  readonly sort: FlowOrder;
  readonly top?: number;
  readonly perHop?: true;
  readonly json?: true;
}

/**
 * Rows scanned for idle flows: `rows` per batch of 1024 frames, which takes some milliseconds, and `burst` if scans are
 * rare, so that flows of short captures are aged exactly.
 */
const SWEEP = { rows: 1 << 16, burst: 1 << 25 } as const;

/** Lines written between two checks for signals. */
const LINES = 1024;

function metricList(text: string): MetricName[] {
  const names = text.split(',');
  for (const [index, name] of names.entries()) {
    if (!isMetricName(name)) throw new InvalidArgumentError(`'${name}' is none of ${METRIC_NAMES.join(', ')}.`);
    if (names.indexOf(name) !== index) throw new InvalidArgumentError(`'${name}' is named twice.`);
  }
  if (names.length > MAX_METRICS) throw new InvalidArgumentError(`There are ${MAX_METRICS} at most.`);
  return names as MetricName[];
}

const idleTime = duration('a time', 2 ** 31 - 1);

/** Defines arguments, options and action of `int flows`. */
export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<FILE>', 'capture to read; - is standard input')
    .option('--rows <R>', 'rows of the cache (524288)', wholeNumber('a number of rows', 1, 1 << 28))
    .option('--buckets <B>', 'flows that fit into a row (12)', wholeNumber('a number of buckets', 1, 64))
    .option('--idle <DURATION>', 'flows that are silent for longer leave the cache (never)', (text) => {
      const ns = idleTime(text);
      if (ns === 0) throw new InvalidArgumentError('Give a time above 0; without the option, flows stay.');
      return ns;
    })
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
  addDecodeOptions(command).action(async (file: string, flags: FlowsFlags) => {
    done(await flows(file, flags, io));
  });
}

/** @throws CliError if memory is insufficient */
function makeStage({ rows, buckets, hops, metrics, idle }: FlowsFlags): FlowStage {
  try {
    return new FlowStage({
      ...given({ rows, buckets, hops, metrics }),
      ...(idle !== undefined && { idleNs: BigInt(Math.ceil(idle)), sweep: SWEEP }),
    });
  } catch (error) {
    // The options were checked before, so a RangeError means that memory is insufficient.
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(`no memory for so large a cache (${error.message}): give fewer --rows`, EXIT.USAGE, error);
  }
}

async function flows(file: string, flags: FlowsFlags, io: Io): Promise<number> {
  const output = new DataOutput(io.stdout);
  const stage = makeStage(flags);
  // The flows are printed after all input is read.
  const run = new CaptureRun(file, flags, { stages: [stage] }, false, output, io);
  const totals = await run.run();
  stage.sweep();

  const found = flowTotals(stage.totals());
  const listed = await list(stage, flags, output, io);
  if (flags.json === true) output.line(flowTotalsJson(found, totals));
  else for (const line of flowTotalsLines(found, listed, colours(hasColour(io)))) output.line(line);
  return run.end(totals);
}

/** Writes the flows. @returns their number */
async function list(stage: FlowStage, flags: FlowsFlags, output: DataOutput, io: Io): Promise<number> {
  const colour = colours(hasColour(io));
  const isJson = flags.json === true;
  // After an interruption, flows read so far are listed; a signal during the list ends it.
  const wasInterrupted = io.signal.aborted;
  let listed = 0;
  for (const entry of flowsInOrder(stage.cache, flags.sort, flags.top ?? Number.POSITIVE_INFINITY)) {
    if (listed === 0 && !isJson) output.line(flowHeading(colour));
    let busy = output.line(isJson ? flowJson(entry) : flowLine(entry, colour));
    if (!isJson && flags.perHop === true) {
      for (const line of hopLines(entry, colour)) busy = output.line(line) ?? busy;
    }
    listed++;
    if (busy !== undefined) await busy;
    if (listed % LINES === 0) await new Promise(setImmediate);
    if (output.closed || (io.signal.aborted && !wasInterrupted)) break;
  }
  return listed;
}
