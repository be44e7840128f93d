import type { Flow } from '@int/codec';
import { type Policy, pathOfValue } from '@int/dart';
import type { Topology } from '@int/network';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FlowTextError, keyOfFlow, parseFlow, parseProtocol } from '../../dart/flow-key.js';
import { type AnswerJson, askStore, type Question } from '../../dart/live-query.js';
import { hexBytes, moment, policyOption } from '../../dart/options.js';
import { given } from '../../given.js';
import { EXIT, hasColour, type Io, say, sayEach } from '../../io.js';
import { switchText, withNames } from '../../network/names.js';
import { readTopology, type TopologyFlags, topologyOption } from '../../network/topology-option.js';
import { wholeNumber } from '../../options.js';
import { type Colours, colours } from '../../output/colour.js';
import { DataOutput } from '../../output/data-output.js';
import { flowText, pathText, timeText } from '../../output/record-text.js';

interface QueryFlags extends TopologyFlags {
  readonly store: string;
  readonly flow?: Flow;
  readonly source?: string;
  readonly destination?: string;
  readonly protocol?: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly switch?: number;
  readonly key?: Uint8Array;
  readonly policy?: Policy;
  readonly at?: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
  readonly salvage?: true;
  readonly json?: true;
}

/** Bytes of a flow's key, IPv4 and IPv6; with a switch 4 more. */
const FLOW_BYTES = [13, 37];

function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FlowTextError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  const port = wholeNumber('a port', 0, 0xffff);
  const parts = ['source', 'destination', 'protocol', 'sourcePort', 'destinationPort'];
  command
    .requiredOption('--store <DIR>', 'folder of the store; int dart listen may have it open')
    .addOption(
      new Option('--flow <FLOW>', "flow, as '10.0.1.1:5000 > 10.0.2.2:80/udp'")
        .argParser((text) => inWords(() => parseFlow(text)))
        .conflicts(['key', ...parts]),
    )
    .addOption(new Option('--source <IP>', 'flow: source address').conflicts('key'))
    .addOption(new Option('--destination <IP>', 'flow: destination address').conflicts('key'))
    .addOption(
      new Option('--protocol <NAME>', 'flow: protocol by name or number')
        .argParser((text) => inWords(() => parseProtocol(text)))
        .conflicts('key'),
    )
    .addOption(new Option('--source-port <N>', 'flow: source port (0)').argParser(port).conflicts('key'))
    .addOption(new Option('--destination-port <N>', 'flow: destination port (0)').argParser(port).conflicts('key'))
    .addOption(
      new Option('--switch <ID>', 'the flow at this switch, as postcards tell')
        .argParser(wholeNumber('a switch id', 0, 0xffff_ffff))
        .conflicts('key'),
    )
    .option('--key <HEX>', 'any key', hexBytes)
    .addOption(policyOption())
    .addOption(
      new Option('--at <TIME>', 'of the epoch of this time (the live one)').argParser(moment).conflicts(['from', 'to']),
    )
    .option('--from <TIME>', 'of all epochs from this time on', moment)
    .option('--to <TIME>', 'of all epochs before this time', moment)
    .option('--salvage', 'where files are damaged, answer from what is sound, and say what was left out')
    .addOption(topologyOption())
    .option('--json', 'one JSON object per line: an answer of each epoch asked')
    .action(async (flags: QueryFlags) => {
      const { policy, at, from, to } = flags;
      if (from !== undefined && to !== undefined && from >= to) command.error('error: --from has to be before --to');
      const { key, flow } = keyOf(flags, command);
      done(await query(flags, { key, query: given({ policy, at, from, to }) }, flow, io));
    });
}

function keyOf(flags: QueryFlags, command: Command): { readonly key: Uint8Array; readonly flow: Flow | null } {
  const { key, source, destination, protocol, sourcePort = 0, destinationPort = 0 } = flags;
  if (key !== undefined) return { key, flow: null };
  let { flow } = flags;
  if (flow === undefined) {
    if (source === undefined || destination === undefined || protocol === undefined) {
      command.error(
        'error: say which: --flow FLOW, or --source, --destination and --protocol with ports, or --key HEX',
      );
    }
    flow = { source, destination, protocol, sourcePort, destinationPort };
  }
  try {
    return { key: keyOfFlow(flow, flags.switch), flow };
  } catch (error) {
    if (error instanceof FlowTextError) return command.error(`error: ${error.message}`);
    throw error;
  }
}

async function query(flags: QueryFlags, question: Question, flow: Flow | null, io: Io): Promise<number> {
  const topology = await readTopology(flags.topology, io);
  const { answers, damage } = await askStore(flags.store, question, flags.salvage === true);
  const output = new DataOutput(io.stdout);
  const { key } = question;
  if (flags.json === true) {
    const asked = { key: Buffer.from(key).toString('hex'), flow, switch: flags.switch ?? null };
    for (const answer of answers) {
      const json = { type: 'answer', ...asked, ...answer, ...reading(answer, key) };
      output.line(JSON.stringify(withNames(json, topology)));
    }
  } else {
    const colour = colours(hasColour(io));
    const at = flags.switch === undefined ? '' : ` at switch ${switchText(flags.switch, topology)}`;
    output.line(colour.bold(flow === null ? Buffer.from(key).toString('hex') : `${flowText(flow)}${at}`));
    for (const answer of answers) output.line(answerText(answer, key, colour, topology));
  }
  await output.finish();
  sayEach(io, damage);
  if (answers.length === 0) say(io, 'no epoch of the store covers this time');
  return damage.length > 0 ? EXIT.INPUT : EXIT.OK;
}

/** The meaning of a value: a path for a flow's key, 32-bit words for a flow at a switch; null if unknown. */
function reading(
  { value }: AnswerJson,
  key: Uint8Array,
): { readonly path: (number | null)[] | null; readonly words: number[] | null } {
  const bytes = value === null ? null : Buffer.from(value, 'hex');
  if (bytes === null || bytes.length % 4 !== 0) return { path: null, words: null };
  if (FLOW_BYTES.includes(key.length)) return { path: pathOfValue(bytes), words: null };
  if (!FLOW_BYTES.includes(key.length - 4)) return { path: null, words: null };
  return { path: null, words: Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4)) };
}

const WORDS = {
  absent: 'empty: never written, or overwritten since',
  conflict: 'empty: the slots do not agree',
  busy: 'empty: it is being written, ask again',
} as const;

const LOST = 'not found: never written, overwritten since, or lost with a file that is damaged';

function answerText(answer: AnswerJson, key: Uint8Array, colour: Colours, topology: Topology): string {
  const { epoch, source, from, to, incomplete, status, value, matching, agreeing } = answer;
  const until = to === null ? '' : ` to ${timeText(BigInt(to))}`;
  const place = colour.dim(`epoch ${epoch} (${source}, ${timeText(BigInt(from))}${until})`);
  const words = status === 'absent' && incomplete ? LOST : status === 'value' ? null : WORDS[status];
  if (words !== null) return `${place}  ${colour.yellow(words)}`;
  const { path, words: numbers } = reading(answer, key);
  const text =
    path !== null
      ? `path ${colour.bold(pathText(path, topology))}`
      : `value ${colour.bold(numbers?.join(' ') ?? value ?? '')}`;
  return `${place}  ${text}  (${agreeing} of ${matching} slots agree)`;
}
