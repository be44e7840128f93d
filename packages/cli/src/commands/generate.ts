import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { LinkType } from '@int/pcap';
import { ReportStream, type TrafficMode, type TrafficOptions, WORKLOADS, type WorkloadName } from '@int/traffic';
import { type Command, Option } from 'commander';
import { udpAddress } from '../input/udp-address.js';
import { opening } from '../interruption.js';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';
import { positiveNumber, wholeNumber } from '../options.js';
import { CaptureOutput } from '../output/capture-output.js';
import { counted, grouped } from '../output/numbers.js';
import { Progress } from '../output/progress.js';
import { reportFrame } from '../output/report-frame.js';
import { sendPaced, UdpSender } from '../output/udp-sender.js';

interface GenerateFlags {
  readonly topology: string;
  readonly flows: number;
  readonly packets: number;
  readonly rate: number;
  readonly mode: TrafficMode;
  readonly report: '1.0' | '2.0';
  readonly workload: WorkloadName;
  readonly seed: string;
  readonly output?: string;
  readonly to?: UdpAddress;
}

const BATCH_REPORTS = 256;
const BATCH_BYTES = 1 << 17;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .option('--topology <NAME:SIZE>', 'fabric: leaf-spine:LEAVESxSPINES or fat-tree:K', 'leaf-spine:4x2')
    .option('--flows <N>', 'monitored flows', wholeNumber('a number', 1, 1 << 22), 256)
    .option('--packets <N>', 'telemetry reports to make', wholeNumber('a number', 1, Number.MAX_SAFE_INTEGER), 10_000)
    .option(
      '--rate <PPS>',
      'monitored packets per second; with --to also in real time',
      positiveNumber('packets per second'),
      20_000,
    )
    .addOption(new Option('--mode <MODE>', 'INT mode').choices(['md', 'mx', 'xd']).default('md'))
    .addOption(new Option('--report <VERSION>', 'telemetry report version').choices(['1.0', '2.0']).default('2.0'))
    .addOption(new Option('--workload <NAME>', 'how links burst').choices(Object.keys(WORKLOADS)).default('web'))
    .option('--seed <S>', 'number or text; the same seed gives the same traffic', '1')
    .option('-o, --output <FILE>', 'capture to write (pcap, or pcapng by its name); - is standard output')
    .addOption(new Option('--to <udp://HOST:PORT>', 'collector to send to').argParser(udpAddress).conflicts('output'))
    .action(async (flags: GenerateFlags) => {
      if (flags.output === undefined && flags.to === undefined && io.stdout.isTTY === true) {
        command.error('error: say where to: -o FILE for a capture, or --to udp://HOST:PORT');
      }
      const { topology, flows, rate, mode, report, workload } = flags;
      const seed = /^\d{1,15}$/.test(flags.seed) ? Number(flags.seed) : flags.seed;
      const options: TrafficOptions = { topology, flows, mode, report, workload, ratePps: rate, seed };
      let stream: ReportStream;
      try {
        stream = new ReportStream(options);
      } catch (error) {
        // An option out of the generator's range, or an unknown topology.
        return command.error(`error: ${(error as Error).message}`);
      }
      done(
        flags.to === undefined ? await toCapture(stream, flags, io) : await toCollector(stream, flags, flags.to, io),
      );
    });
}

async function toCapture(stream: ReportStream, flags: GenerateFlags, io: Io): Promise<number> {
  const output = await CaptureOutput.open(flags.output, io);
  const progress = new Progress(io, false);
  const bytes = new Uint8Array(BATCH_BYTES);
  const offsets = new Uint32Array(BATCH_REPORTS);
  const lengths = new Uint32Array(BATCH_REPORTS);
  const timesNs = new Float64Array(BATCH_REPORTS);
  const { startNs } = stream.settings;
  let made = 0;
  while (made < flags.packets && !io.signal.aborted && !output.closed) {
    const most = Math.min(BATCH_REPORTS, flags.packets - made);
    const count = stream.fill(bytes, offsets.subarray(0, most), lengths, timesNs);
    for (let index = 0; index < count; index++) {
      const busy = output.write({
        data: reportFrame(bytes, offsets[index]!, lengths[index]!),
        timeNs: startNs + BigInt(timesNs[index]!),
        linkType: LinkType.ETHERNET,
      });
      if (busy !== undefined) await busy;
    }
    made += count;
    progress.update(() => `${grouped(made)} of ${counted(flags.packets, 'report')}`);
    // Signals are handled only between turns of the event loop.
    await new Promise(setImmediate);
  }
  progress.done();
  await output.end();
  if (io.signal.aborted) say(io, `interrupted after ${counted(made, 'report')}`);
  return EXIT.OK;
}

async function toCollector(stream: ReportStream, flags: GenerateFlags, to: UdpAddress, io: Io): Promise<number> {
  const peer = formatUdpAddress(to);
  const opened = UdpSender.open(to.host, to.port).catch((error: unknown) => {
    throw new CliError(`cannot send to ${peer}: ${openFailure(error)}`, EXIT.OPEN, error);
  });
  const sender = await opening(io, `the way to ${peer}`, opened);
  const progress = new Progress(io, false);
  await sendPaced(
    stream,
    sender,
    flags.packets,
    () => io.signal.aborted,
    () => progress.update(() => `${counted(sender.sent, 'report')} sent to ${peer}`),
  );
  // Wait for a possible refusal of the last datagrams.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await sender.close();
  progress.done();
  say(io, `${counted(sender.sent, 'report')} sent to ${peer}`);
  if (sender.error === null) return EXIT.OK;
  const refused = sender.error.code === 'ECONNREFUSED';
  const reason = refused ? 'nothing listens there: start int collect --listen first' : sender.error.message;
  throw new CliError(`cannot send to ${peer}: ${reason}`, EXIT.OPEN, sender.error);
}
