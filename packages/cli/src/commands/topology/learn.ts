import { CaptureSource, Collector, type CollectorTotals, type UdpAddress } from '@int/collector';
import { type LearntTopology, TopologyLearner } from '@int/network';
import { type Command, Option } from 'commander';
import { opened } from '../../collect/capture-run.js';
import { given } from '../../given.js';
import { addFromOption, fromOf, type SenderFlags } from '../../input/senders.js';
import { CaptureInput, type TelemetryInput, UdpInput } from '../../input/telemetry-input.js';
import { udpAddress } from '../../input/udp-address.js';
import { endOf, opening } from '../../interruption.js';
import { EXIT, type Io, say } from '../../io.js';
import { addUnitOptions, type DeviceFlags } from '../../network/device-options.js';
import { type KnownNetwork, readNetwork } from '../../network/known-network.js';
import { learntCounts, learntText, topologyYaml, untrackedText } from '../../network/topology-yaml.js';
import { addDecodeOptions, wholeNumber } from '../../options.js';
import { DataOutput } from '../../output/data-output.js';
import { NewFile } from '../../output/new-file.js';
import { counted } from '../../output/numbers.js';
import { Progress } from '../../output/progress.js';
import { interruptedCode } from '../../stopping.js';

interface LearnFlags extends DeviceFlags, Pick<SenderFlags, 'from'> {
  readonly listen?: UdpAddress;
  readonly output?: string;
  readonly force?: true;
  readonly reports?: number;
  readonly switches?: number;
  readonly ports?: number;
  readonly links?: number;
  readonly json?: true;
}

const MOST = 1 << 20;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('[FILE]', 'capture to read; - is standard input')
    .addOption(
      new Option(
        '--listen <udp://HOST:PORT>',
        'learn from what arrives, until Ctrl-C; without a port: 32766',
      ).argParser(udpAddress),
    )
    .option('-o, --output <FILE>', 'file to write (standard output)')
    .option('--force', 'write the file even if it exists')
    .option('--reports <N>', 'end after so many reports (all)', wholeNumber('a number', 1, Number.MAX_SAFE_INTEGER))
    .option('--switches <N>', 'most switches (4096)', wholeNumber('a number', 1, MOST))
    .option('--ports <N>', 'most ports (65536)', wholeNumber('a number', 1, MOST))
    .option('--links <N>', 'most links (65536)', wholeNumber('a number', 1, MOST))
    .option('--json', 'what was learnt, as one JSON object');
  addUnitOptions(addDecodeOptions(addFromOption(command))).action(
    async (file: string | undefined, flags: LearnFlags) => {
      if ((file === undefined) === (flags.listen === undefined)) {
        command.error('error: say what to learn from: a capture FILE, or --listen udp://HOST:PORT');
      }
      if (flags.force === true && flags.output === undefined) command.error('error: --force goes with --output FILE');
      done(await new LearnCommand(file ?? null, flags, await readNetwork(flags, io), io).run());
    },
  );
}

/** One run of `int topology learn`, from its source to the exit code. */
class LearnCommand {
  readonly #flags: LearnFlags;
  readonly #io: Io;
  readonly #input: TelemetryInput;
  readonly #learner: TopologyLearner;
  readonly #progress: Progress;
  readonly #problems: string[] = [];

  /** @param file a capture; `null`: the network */
  constructor(file: string | null, flags: LearnFlags, network: KnownNetwork, io: Io) {
    const { switches, ports, links, listen } = flags;
    this.#flags = flags;
    this.#io = io;
    this.#learner = new TopologyLearner(given({ switches, ports, links }));
    this.#progress = new Progress(io, false);
    const { decode } = network.device;
    const from = fromOf(flags, network);
    this.#input =
      file === null
        ? new UdpInput([listen!], decode, from)
        : new CaptureInput(new CaptureSource({ path: file, input: io.stdin, ...from }), decode);
  }

  async run(): Promise<number> {
    const { output: path, force } = this.#flags;
    // Refuse at once what would be refused after an hour.
    const target = path === undefined ? null : await NewFile.prepare(path, force === true);
    const output = new DataOutput(this.#io.stdout);
    const totals = await this.#learn(output);
    const learnt = this.#learner.topology();
    const lines = this.#flags.json === true ? [JSON.stringify({ type: 'topology', ...learnt })] : topologyYaml(learnt);
    if (learnt.switches.length > 0) {
      if (target === null) for (const line of lines) await output.line(line);
      else await target.write(`${lines.join('\n')}\n`);
    }
    await output.finish();
    if (output.closed) return EXIT.OK;
    return this.#tell(totals, learnt);
  }

  async #learn(output: DataOutput): Promise<CollectorTotals> {
    const { reports: most = Number.POSITIVE_INFINITY } = this.#flags;
    const learner = this.#learner;
    let enough = (): void => {};
    const hasEnough = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const collector = new Collector({
      sources: this.#input.sources,
      decode: this.#input.decode,
      stages: [
        {
          name: 'topology',
          process: (batch) => {
            if (learner.reports < most) learner.learn(batch, most - learner.reports);
            if (learner.reports >= most) enough();
            this.#progress.update(() => `${counted(learner.reports, 'report')}`);
          },
        },
      ],
      onProblem: ({ error }) => this.#problems.push(error.message),
    });
    await opening(this.#io, 'the source', opened(collector.start()));
    for (const line of this.#input.words) say(this.#io, line);
    await endOf(this.#io, output, Promise.race([collector.finished, hasEnough]));
    const totals = await collector.stop();
    this.#progress.done();
    return totals;
  }

  /** Tells what was learnt, and what not. @returns the exit code */
  #tell({ received, dropped }: CollectorTotals, learnt: LearntTopology): number {
    const io = this.#io;
    for (const problem of this.#problems) say(io, problem);
    if (learnt.switches.length === 0 && io.signal.aborted) {
      say(io, 'interrupted before anything was learnt');
      return interruptedCode(io);
    }
    if (learnt.switches.length === 0) {
      say(
        io,
        `nothing was learnt: ${counted(learnt.reports, 'report')} in ${counted(received, 'frame')}, without a hop`,
      );
      return EXIT.INPUT;
    }
    const { links, contradicting } = learntCounts(learnt);
    say(io, `learnt from ${counted(learnt.reports, 'report')}: ${learntText(learnt)}`);
    if (links === 0) say(io, 'no links: they need reports with several hops, and hops that tell their ids');
    if (contradicting > 0) {
      say(io, `${counted(contradicting, 'port')} with several peers: see "contradicts" in the result`);
    }
    const untracked = untrackedText(learnt);
    if (untracked !== null) say(io, untracked);
    const { truncated, malformed, unsupported } = dropped;
    const wrong = truncated + malformed + unsupported;
    if (wrong > 0) say(io, `${counted(wrong, 'frame')} could not be read`);
    const { 'unknown-source': refused = 0 } = dropped;
    if (refused > 0) say(io, `${counted(refused, 'frame')} refused: not from who may send`);
    return untracked !== null || wrong > 0 || this.#problems.length > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
