import { type CollectorTotals, DetectionStage, detectionMemory, type EventListener } from '@int/collector';
import type { DetectorOptions, RuleSet } from '@int/detect';
import type { Command } from 'commander';
import { CaptureRun } from '../collect/capture-run.js';
import { readRulesFile, usingRules } from '../input/rules-file.js';
import { addSenderOptions, checkKeepUnknown, type SenderFlags } from '../input/senders.js';
import { hasColour, type Io } from '../io.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork, rulesContextOf } from '../network/known-network.js';
import { PlainMetrics } from '../network/plain-metrics.js';
import { unitsLine } from '../network/units-line.js';
import { addDetectOptions, type DetectFlags, detectOptions, RULES_HELP } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { detectionJson, detectionTable } from '../output/detection-summary.js';
import { eventJson, eventText, placedEvent } from '../output/event-text.js';
import { measuredText } from '../output/metric-text.js';
import { type Told, trackedJson, trackedText } from '../output/tracked-text.js';

interface DetectCommandFlags extends NetworkFlags, DetectFlags, SenderFlags {
  readonly rules: string;
  readonly json?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<FILE>', 'capture to read; - is standard input')
    .requiredOption('--rules <FILE>', 'rules (YAML or JSON), see below; - is standard input')
    .option('--json', 'one JSON object per line: events, then a summary');
  addDetectOptions(addSenderOptions(command));
  addNetworkOptions(command)
    .addHelpText('after', RULES_HELP)
    .action(async (file: string, flags: DetectCommandFlags) => {
      if (file === '-' && flags.rules === '-') {
        command.error('error: FILE and --rules cannot both be standard input');
      }
      checkKeepUnknown(flags, command);
      const options = detectOptions(flags, command);
      const network = await readNetwork(flags, io);
      const rules = await readRulesFile(flags.rules, io, rulesContextOf(network));
      done(await detect(file, rules, flags, options, network, io));
    });
}

async function detect(
  file: string,
  rules: RuleSet,
  flags: DetectCommandFlags,
  options: DetectorOptions,
  network: KnownNetwork,
  io: Io,
): Promise<number> {
  const output = new DataOutput(io.stdout);
  const units = flags.json === true ? unitsLine(network.device) : null;
  if (units !== null) output.line(units);
  const colour = colours(hasColour(io));
  const metrics = measuredText(network);
  const memory = usingRules(flags.rules, () => detectionMemory(rules, options));
  const plain = new PlainMetrics(network.device);
  const onEvents: EventListener = (events) => {
    const firstNumber = run.received - events.batch.frames + 1;
    for (let row = 0; row < events.count; row++) {
      if (stage.isTracked(events.ruleName(row))) continue;
      const event = placedEvent(events, row, firstNumber);
      plain.see(event.event.metric);
      output.line(flags.json === true ? eventJson(event, network) : eventText(event, colour, metrics));
    }
  };
  const onTracked = (all: readonly Told[]): void => {
    for (const told of all) {
      output.line(flags.json === true ? trackedJson(told, network) : trackedText(told, colour, metrics));
    }
  };
  const stage: DetectionStage = usingRules(
    flags.rules,
    () => new DetectionStage(rules, { ...options, onEvents, onTracked, ...(memory !== null && { memory }) }),
  );
  // This sink makes the capture wait for a slow reader of the events.
  const sinks = [{ name: 'output', write: () => output.flush() }];
  const parts = { stages: [stage], sinks, ...(memory !== null && { memory }) };
  const run: CaptureRun = new CaptureRun(file, network, parts, flags, true, output, io);
  const totals = await run.run();
  writeEnd(totals, stage, flags, plain.note(), output, io);
  return run.end(totals);
}

function writeEnd(
  totals: CollectorTotals,
  stage: DetectionStage,
  flags: DetectCommandFlags,
  note: string | null,
  output: DataOutput,
  io: Io,
): void {
  const detected = { totals: stage.totals(), tracked: stage.tracked(), adaptation: stage.adaptation(), filtered: 0 };
  if (flags.json !== true) {
    if (note !== null) output.line(note);
    for (const line of detectionTable(detected, colours(hasColour(io)))) output.line(line);
    return;
  }
  // A capture waits, so nothing is overrun.
  const { overrun: _, ...dropped } = totals.dropped;
  const summary = { type: 'summary', ...detectionJson(detected), frames: totals.received, dropped };
  output.line(JSON.stringify(summary));
}
