import { type KnowledgeOptions, KnowledgePlane } from '@int/knowledge';
import { prefixOf } from '@int/network';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, hasColour, type Io, say, sayHint } from '../io.js';
import { closedLine, incidentJson, incidentLines, summaryJson, summaryLines } from '../knowledge/incident-text.js';
import { KnowledgeReader } from '../knowledge/reader.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork } from '../network/known-network.js';
import { wholeNumber } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { Progress } from '../output/progress.js';

/** The default of the plane: a day. */
const LEARN_EDGES_SECONDS = 86_400;

interface KnowledgeFlags extends NetworkFlags {
  readonly inside?: readonly string[];
  readonly oneWay?: true;
  readonly sampling?: number;
  readonly learn?: number;
  readonly learnEdges?: number;
  readonly json?: true;
}

function prefixList(text: string): string[] {
  const prefixes = text.split(',');
  const wrong = prefixes.find((prefix) => prefixOf(prefix) === null);
  if (wrong !== undefined) throw new InvalidArgumentError(`'${wrong}' is no prefix such as 10.0.0.0/8.`);
  return prefixes;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument(
      '<FILE...>',
      'pcap, pcapng or a conn.log of Zeek, also gzip; a folder with a history in Parquet; - is standard input',
    )
    .addOption(
      new Option('--inside <PREFIX,...>', 'prefixes of the own network (private addresses)').argParser(prefixList),
    )
    .option('--one-way', 'packets of one direction only are seen (found out by itself, too)')
    .option('--sampling <N>', '1 packet of N is seen (1)', wholeNumber('a number', 1, 1_000_000))
    .option('--learn <SECONDS>', 'what is usual is known after so long (60)', wholeNumber('seconds', 1, 1_000_000))
    .option(
      '--learn-edges <SECONDS>',
      'leaks and edges are judged after so long: until then all destinations are new (86400)',
      wholeNumber('seconds', 0, 10_000_000),
    )
    .option('--json', 'one JSON object per line: incidents, then a summary');
  addNetworkOptions(command).action(async (files: string[], flags: KnowledgeFlags) => {
    if (files.filter((file) => file === '-').length > 1) command.error('error: standard input can be read once');
    done(await knowledge(files, flags, await readNetwork(flags, io), io));
  });
}

function optionsOf({ inside, oneWay, sampling, learn, learnEdges }: KnowledgeFlags): KnowledgeOptions {
  return {
    ...(inside !== undefined && { inside }),
    ...(oneWay === true && { directions: 'one' as const }),
    ...(sampling !== undefined && { sampling }),
    ...(learn !== undefined && { learnMs: learn * 1000 }),
    ...(learnEdges !== undefined && { learnEdgesMs: learnEdges * 1000 }),
  };
}

async function knowledge(
  files: readonly string[],
  flags: KnowledgeFlags,
  network: KnownNetwork,
  io: Io,
): Promise<number> {
  const { topology } = network;
  const output = new DataOutput(io.stdout);
  const colour = colours(hasColour(io));
  const progress = new Progress(io, true);
  const plane = new KnowledgePlane(optionsOf(flags), {
    incident: (incident) => {
      if (flags.json === true) output.line(JSON.stringify(incidentJson(incident, topology)));
      else if (incident.state === 'close') output.line(closedLine(incident, topology, colour));
      else for (const line of incidentLines(incident, network, colour)) output.line(line);
    },
  });
  const seen = (): string => {
    const { packets, connections } = plane.totals();
    return connections > packets ? counted(connections, 'connection') : counted(packets, 'packet');
  };
  const onProgress = (): void => progress.update(seen);
  const reader = new KnowledgeReader(plane, network, onProgress, io);
  for (const file of files) {
    if (io.signal.aborted || output.closed) break;
    await reader.read(file);
  }
  if (!io.signal.aborted) reader.finish();
  plane.finish();
  progress.done();

  const totals = plane.totals();
  const hosts = plane.hosts();
  const badLines = reader.badLines.count;
  if (flags.json === true) output.line(JSON.stringify(summaryJson(totals, reader, badLines, hosts)));
  else {
    const learnEdgesMs = 1000 * (flags.learnEdges ?? LEARN_EDGES_SECONDS);
    for (const line of summaryLines(totals, reader.passedOver, learnEdgesMs, hosts, colour)) output.line(line);
  }
  await output.finish();
  if (output.closed) return EXIT.OK;
  if (io.signal.aborted) say(io, `interrupted after ${seen()}`);
  sayHint(io, reader.hint);
  return reader.hasFailed || badLines > 0 ? EXIT.INPUT : EXIT.OK;
}
