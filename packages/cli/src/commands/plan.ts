import type { Algorithm } from '@int/gpint';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { aside } from '../aside/aside.js';
import { EXIT, hasColour, type Io, say } from '../io.js';
import { positiveNumber, wholeNumber } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { writePlanJson } from '../plan/plan-json.js';
import { writePlanText, writeReplanText } from '../plan/plan-text.js';
import { revived } from '../plan/planning.js';
import { readTopology, type Weights } from '../plan/topology.js';
import { interruptedCode } from '../stopping.js';

interface PlanFlags {
  readonly paths?: number;
  readonly algorithm: Algorithm;
  readonly seed: string;
  readonly budget?: number;
  readonly entries?: string[];
  readonly perComponent?: true;
  readonly weights: Weights;
  readonly fail?: string[];
  readonly json?: true;
}

const HELP = `
TOPOLOGY is a file, or - for standard input, or is generated:
  edge list             a line for each link: A B, and perhaps its weight; # begins a comment
  GraphML               as of the Internet Topology Zoo and most graph tools
  watts-strogatz:NODES:DEGREE:PROBABILITY, erdos-renyi:NODES:PROBABILITY
  fat-tree:PORTS, leaf-spine:LEAVESxSPINES, grid:WIDTHxHEIGHT, ring:NODES, star:LEAVES

Examples:
  int plan watts-strogatz:100:4:0.1 --paths 30
  int plan network.graphml --paths 8 --weights distance --json
  int plan fat-tree:8 --paths 24 --fail agg-p0-1
`;

function names(text: string, previous?: string[]): string[] {
  const all = text.split(',').filter((name) => name !== '');
  if (all.length === 0) throw new InvalidArgumentError('Give names, with commas between them.');
  return [...(previous ?? []), ...all];
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<TOPOLOGY>', 'an edge list or GraphML file, - for standard input, or a generator such as fat-tree:8')
    .option('--paths <K>', 'number of paths', wholeNumber('a number of paths', 1, 10_000_000))
    .addOption(
      new Option('--algorithm <NAME>', 'euler: trails over every link (INT-Path); per-node: a path for each switch')
        .choices(['gpint', 'euler', 'per-node'])
        .default('gpint'),
    )
    .option('--seed <S>', 'number or text, of generator and planner; the same seed gives the same plan', '1')
    .option(
      '--budget <MS>',
      'give the best plan found in so many milliseconds (when nothing improves)',
      positiveNumber('milliseconds'),
    )
    .option('--entries <A,B,...>', 'switches at which the monitor is attached: paths start there (any)', names)
    .option('--per-component', 'plan each part of a network that is in parts')
    .addOption(
      new Option('--weights <FROM>', 'costs of links: key: as the file says; distance: from latitude and longitude')
        .choices(['key', 'distance', 'none'])
        .default('key'),
    )
    .option('--fail <A-B|A,...>', 'links and switches that fail then: which paths have to change', names)
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP);
  command.action(async (topology: string, flags: PlanFlags) => {
    const { algorithm, paths } = flags;
    if (algorithm === 'gpint' && paths === undefined) command.error("error: option '--paths <K>' is missing");
    if (algorithm !== 'gpint') {
      for (const [name, value] of Object.entries({ paths, budget: flags.budget, entries: flags.entries })) {
        if (value !== undefined)
          command.error(`error: --${name} goes with --algorithm gpint: ${algorithm} decides itself`);
      }
    }
    done(await plan(topology, flags, io));
  });
}

async function plan(topology: string, flags: PlanFlags, io: Io): Promise<number> {
  const seed = /^\d{1,15}$/.test(flags.seed) ? Number(flags.seed) : flags.seed;
  const question = {
    algorithm: flags.algorithm,
    paths: flags.paths,
    seed,
    budgetMs: flags.budget,
    perComponent: flags.perComponent === true,
  };
  const source = await readTopology(topology, io);
  const { weights, entries = null, fail: failures = [] } = flags;
  const found = await aside('plan', { source, weights, question, entries, failures }, io);
  if (found === null) {
    say(io, 'interrupted before there was a plan');
    return interruptedCode(io);
  }
  const { graph, failures: failed, first, second } = revived(found);
  const output = new DataOutput(io.stdout);
  if (flags.json === true) await writePlanJson(output, graph, question, first, failed, second);
  else {
    const colour = colours(hasColour(io));
    const width = io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
    await writePlanText(output, graph, first, width, colour);
    if (second !== null) await writeReplanText(output, graph, failed, second, width, colour);
  }
  await output.finish();
  return EXIT.OK;
}
