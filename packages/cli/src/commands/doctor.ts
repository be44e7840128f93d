import type { Frames, LinkLayer } from '@int/codec';
import { formatUdpAddress, type UdpAddress, UdpSource } from '@int/collector';
import { linkLayerOf } from '@int/collector/internals';
import { FrameSample, tryDialects } from '@int/network';
import { type Command, Option } from 'commander';
import { opened } from '../collect/capture-run.js';
import { trialJson, trialLines } from '../doctor/trial-text.js';
import { readFrames } from '../input/capture-frames.js';
import { udpAddress } from '../input/udp-address.js';
import { endOf, opening } from '../interruption.js';
import { CliError, EXIT, type Io, say } from '../io.js';
import { wholeNumber } from '../options.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { Progress } from '../output/progress.js';
import { interruptedCode } from '../stopping.js';

interface DoctorFlags {
  readonly listen?: UdpAddress;
  readonly packets: number;
  readonly json?: true;
}

const MOST_PACKETS = 1_000_000_000;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('[FILE]', 'capture to read (pcap, pcapng, also gzip); - is standard input')
    .addOption(
      new Option('--listen <udp://HOST:PORT>', 'receive telemetry reports instead; without a port: 32766').argParser(
        udpAddress,
      ),
    )
    .option('--packets <N>', 'look at so many frames at most', wholeNumber('a number', 1, MOST_PACKETS), 10_000)
    .option('--json', 'one JSON object')
    .action(async (file: string | undefined, flags: DoctorFlags) => {
      if ((file === undefined) === (flags.listen === undefined)) {
        command.error('error: give a FILE, or --listen udp://HOST:PORT');
      }
      done(await doctor(file, flags, io));
    });
}

async function doctor(file: string | undefined, flags: DoctorFlags, io: Io): Promise<number> {
  const output = new DataOutput(io.stdout);
  const sample = new FrameSample();
  const isDamaged = file === undefined ? false : await readCapture(file, flags, sample, io);
  const port = file === undefined ? await listen(flags, sample, output, io) : null;
  if (io.signal.aborted && sample.size === 0) {
    throw new CliError('interrupted before a frame came', interruptedCode(io));
  }
  const found = tryDialects(sample);
  // What has come to this port says nothing about other ports.
  const device = found.device === null || port === null ? found.device : { ...found.device, reportPorts: [port] };
  const trial = { ...found, device };
  if (flags.json === true) output.line(JSON.stringify(trialJson(trial)));
  else if (trial.device !== null) for (const line of trialLines(trial)) output.line(line);
  await output.finish();
  if (output.closed) return EXIT.OK;
  if (trial.device !== null) return isDamaged ? EXIT.INPUT : EXIT.OK;
  say(io, `nothing here looks like INT, in ${counted(sample.seen, 'frame')}`);
  if (flags.json !== true) for (const doubt of trial.doubts) say(io, doubt);
  return EXIT.INPUT;
}

/** @returns whether the capture is damaged @throws CliError (rejects) if it cannot be read */
async function readCapture(file: string, { packets }: DoctorFlags, sample: FrameSample, io: Io): Promise<boolean> {
  let unknown = 0;
  const damage = await readFrames(
    file,
    io,
    (batch) => {
      const link = linkLayerOf(batch.linkType);
      if (link === null) unknown += batch.count;
      else offer(batch, link, sample, packets);
      return sample.seen + unknown < packets;
    },
    () => undefined,
  );
  if (unknown > 0) say(io, `${counted(unknown, 'frame')} of a link type that is not read`);
  if (damage !== null) say(io, `${file}: ${damage.message}, after ${counted(sample.seen, 'frame')}`);
  return damage !== null;
}

/**
 * Receives until there are enough datagrams, or a signal comes.
 * @returns the port
 * @throws CliError (rejects) if the socket cannot be opened
 */
async function listen(
  { listen: address, packets }: DoctorFlags,
  sample: FrameSample,
  output: DataOutput,
  io: Io,
): Promise<number> {
  const source = new UdpSource({ address: address! });
  let finish = (): void => {};
  const enough = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const progress = new Progress(io, false);
  const start = source.start((frames) => {
    offer(frames, 'report', sample, packets);
    progress.update(() => counted(sample.seen, 'datagram'));
    if (sample.seen >= packets) finish();
    return undefined;
  });
  await opening(io, 'the source', opened(start));
  say(
    io,
    `listening on ${formatUdpAddress(source.address)} for ${counted(packets, 'datagram')}; Ctrl-C ends it before`,
  );
  await endOf(io, output, enough);
  await source.stop();
  progress.done();
  return source.address.port;
}

function offer(frames: Frames, linkType: LinkLayer, sample: FrameSample, most: number): void {
  const { bytes, offsets, lengths, timestampsHigh, timestampsLow } = frames;
  const count = frames.count ?? offsets.length;
  for (let row = 0; row < count && sample.seen < most; row++) {
    const timeNs = (BigInt(timestampsHigh?.[row] ?? 0) << 32n) | BigInt(timestampsLow?.[row] ?? 0);
    sample.offer(bytes, offsets[row]!, lengths[row]!, linkType, timeNs);
  }
}
