import {
  CaptureSource,
  Collector,
  type CollectorTotals,
  DetectionStage,
  detectionMemory,
  type EventListener,
  SourceError,
} from '@int/collector';
import type { DetectorOptions, RuleSet } from '@int/detect';
import type { Command } from 'commander';
import { readRulesFile, usingRules } from '../input/rules-file.js';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import {
  addDecodeOptions,
  addDetectOptions,
  type DecodeFlags,
  type DetectFlags,
  decodeOptions,
  detectOptions,
} from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { detectionJson, detectionTable } from '../output/detection-summary.js';
import { eventJson, eventText, placedEvent } from '../output/event-text.js';
import { counted } from '../output/numbers.js';
import { Progress } from '../output/progress.js';

interface DetectCommandFlags extends DecodeFlags, DetectFlags {
  readonly rules: string;
  readonly json?: true;
}

/** Defines arguments, options and action of `int detect`. */
export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<FILE>', 'capture to read; - is standard input')
    .requiredOption('--rules <FILE>', 'rules (YAML or JSON); - is standard input')
    .option('--json', 'one JSON object per line: events, then a summary');
  addDetectOptions(command);
  addDecodeOptions(command).action(async (file: string, flags: DetectCommandFlags) => {
    if (file === '-' && flags.rules === '-') {
      command.error('error: FILE and --rules cannot both be standard input');
    }
    const options = detectOptions(flags, command);
    const rules = await readRulesFile(flags.rules, io);
    done(await detect(file, rules, flags, options, io));
  });
}

async function detect(
  file: string,
  rules: RuleSet,
  flags: DetectCommandFlags,
  options: DetectorOptions,
  io: Io,
): Promise<number> {
  const output = new DataOutput(io.stdout);
  const colour = colours(hasColour(io));
  const progress = new Progress(io, true);
  const memory = usingRules(flags.rules, () => detectionMemory(rules, options));
  const problems: string[] = [];

  const onEvents: EventListener = (events) => {
    const firstNumber = collector.totals().received - events.batch.frames + 1;
    for (let row = 0; row < events.count; row++) {
      const event = placedEvent(events, row, firstNumber);
      output.line(flags.json === true ? eventJson(event) : eventText(event, colour));
    }
  };
  const stage = usingRules(
    flags.rules,
    () => new DetectionStage(rules, { ...options, onEvents, ...(memory !== null && { memory }) }),
  );
  const collector = new Collector({
    sources: [new CaptureSource({ path: file, input: io.stdin })],
    decode: decodeOptions(flags),
    stages: [stage],
    // This sink makes the capture wait for a slow reader of the events.
    sinks: [
      {
        name: 'output',
        write() {
          progress.update(() => counted(collector.totals().received, 'frame'));
          return output.flush();
        },
      },
    ],
    ...(memory !== null && { memory }),
    onProblem: ({ error }) => problems.push(error.message),
  });

  try {
    await collector.start();
  } catch (error) {
    if (SourceError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
    throw error;
  }
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    io.signal.addEventListener('abort', () => resolve(), { once: true });
    output.onClosed = resolve;
    void collector.finished.then(resolve);
  });
  const totals = await collector.stop();
  progress.done();
  writeEnd(totals, stage, flags, output, io);
  await output.end();
  if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
  if (output.closed) return EXIT.OK;
  const frames = counted(totals.received, 'frame');
  for (const problem of problems) say(io, `${problem}, after ${frames}`);
  if (io.signal.aborted) say(io, `interrupted after ${frames}`);
  const { truncated, malformed, unsupported } = totals.dropped;
  const wrong = truncated + malformed + unsupported;
  if (wrong > 0) say(io, `of ${frames}, ${truncated} truncated, ${malformed} malformed, ${unsupported} unsupported`);
  return wrong > 0 || problems.length > 0 ? EXIT.INPUT : EXIT.OK;
}

function writeEnd(
  totals: CollectorTotals,
  stage: DetectionStage,
  flags: DetectCommandFlags,
  output: DataOutput,
  io: Io,
): void {
  const detected = { totals: stage.totals(), adaptation: stage.adaptation(), filtered: 0 };
  if (flags.json !== true) {
    for (const line of detectionTable(detected, colours(hasColour(io)))) output.line(line);
    return;
  }
  // A capture waits, so nothing is overrun.
  const { overrun: _, ...dropped } = totals.dropped;
  const summary = { type: 'summary', ...detectionJson(detected), frames: totals.received, dropped };
  output.line(JSON.stringify(summary));
}
