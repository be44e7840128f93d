import { type Command, InvalidArgumentError } from 'commander';
import { CaptureRun } from '../collect/capture-run.js';
import { flowStageOf } from '../flows/cache-options.js';
import { EXIT, type Io, say } from '../io.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type NetworkFlags, readNetwork } from '../network/known-network.js';
import { positiveNumber, wholeNumber } from '../options.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { formulaJson, formulaLines, planJson, planLines } from '../overhead/overhead-text.js';
import { planOf } from '../overhead/plan-of.js';

interface OverheadFlags extends NetworkFlags {
  readonly packetsPerSecond?: number;
  readonly switches?: number;
  readonly fields?: number;
  readonly instructions?: number;
  readonly packetBytes?: number;
  readonly oneIn?: number;
  readonly budget?: number;
  readonly json?: true;
}

const HELP = `
Without FILE: what watching adds to a link, B = P * (12 + 4 * N * F) * 8, with the header of IntMon; with --instructions, that of
INT-MD 2.1. With FILE: fields and sampling for each flow of a capture, so that telemetry takes at most a share of every link whose
speed the topology tells, and most is seen.

Examples:
  int overhead --packets-per-second 10000 --switches 3 --fields 3 --packet-bytes 126 --one-in 2
  int overhead capture.pcap --topology topology.yaml --budget 1%
`;

/** Flows that are planned, the largest: the plan of more takes long, and says little more. */
const MOST_FLOWS = 256;

function share(text: string): number {
  const value = /^\d+(\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : Number.NaN;
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError('Give a share above 0, such as 1%.');
  return value;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('[FILE]', 'capture whose flows are to be watched; - is standard input')
    .option('--packets-per-second <P>', 'packets a second on the link', positiveNumber('packets a second'))
    .option('--switches <N>', 'switches that they have passed', wholeNumber('switches', 1, 255))
    .option('--fields <F>', 'fields that each switch writes; with FILE: at most (8)', wholeNumber('fields', 1, 8))
    .option(
      '--instructions <BITMAP>',
      'instead of --fields: INT-MD 2.1 with this bitmap, such as 0xf000',
      wholeNumber('16 bits', 1, 0xffff),
    )
    .option(
      '--packet-bytes <BYTES>',
      'length of a packet without telemetry: says what applications lose',
      positiveNumber('bytes'),
    )
    .option('--one-in <K>', '1 packet of K is watched (1)', wholeNumber('a number', 1, 2 ** 31))
    .option('--budget <X%>', 'share of each link that telemetry may take', share)
    .option('--json', 'one JSON object, with FILE one per line');
  addNetworkOptions(command)
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, flags: OverheadFlags) => {
      if (file === undefined) {
        for (const name of ['packets-per-second', 'switches'] as const) {
          const value = name === 'switches' ? flags.switches : flags.packetsPerSecond;
          if (value === undefined) command.error(`error: option '--${name}' or a FILE is missing`);
        }
        if ((flags.fields === undefined) === (flags.instructions === undefined)) {
          command.error("error: give one of '--fields' and '--instructions'");
        }
        done(await formula(flags, io));
        return;
      }
      if (flags.topology === undefined || flags.budget === undefined) {
        command.error('error: a FILE needs --topology and --budget');
      }
      done(await plan(file, flags, flags.budget, io));
    });
}

async function formula(flags: OverheadFlags, io: Io): Promise<number> {
  const { packetsPerSecond = 0, switches = 1, fields = 0, instructions, packetBytes = null, oneIn = 1 } = flags;
  const header =
    instructions === undefined ? ({ kind: 'intmon', fields } as const) : ({ kind: 'int-md', instructions } as const);
  const output = new DataOutput(io.stdout);
  const question = { packetsPerSecond, switches, header, packetBytes, oneIn };
  if (flags.json === true) output.line(formulaJson(question));
  else for (const line of formulaLines(question)) output.line(line);
  await output.finish();
  return EXIT.OK;
}

async function plan(file: string, flags: OverheadFlags, budget: number, io: Io): Promise<number> {
  const network = await readNetwork(flags, io);
  const output = new DataOutput(io.stdout);
  const stage = flowStageOf({ hops: 16 });
  const run = new CaptureRun(file, network, { stages: [stage] }, {}, false, output, io);
  const totals = await run.run();
  const found = planOf(stage.cache, network.topology, { budget, fields: flags.fields ?? 8, most: MOST_FLOWS });
  if (found === null) say(io, 'no flow with a path and a time: nothing to plan');
  else {
    if (flags.json === true) for (const line of planJson(found)) output.line(line);
    else for (const line of planLines(found)) output.line(line);
    if (found.untracked > 0) say(io, `${counted(found.untracked, 'smaller flow')} not planned`);
  }
  return run.end(totals);
}
