import { AcceleratorRnic, type SoftRnic } from '@int/dart';
import type { EpochStore } from '@int/dart/node';
import { LinkType } from '@int/pcap';
import { type Command, Option } from 'commander';
import { openStore, StoreTrouble, storeFailure } from '../../dart/open-store.js';
import { addRegionOptions, checkRegion, type RegionFlags, regionRnic } from '../../dart/region-options.js';
import { rnicCounts, rnicSummary } from '../../dart/rnic-counts.js';
import { readFrames } from '../../input/capture-frames.js';
import { CliError, EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { counted, grouped, percent } from '../../output/numbers.js';
import { Progress } from '../../output/progress.js';

interface ReceiveFlags extends RegionFlags {
  readonly icrc: 'check' | 'skip';
  readonly json?: true;
}

interface Received {
  frames: number;
  /** Frames of captures whose link layer is not Ethernet. */
  notEthernet: number;
  isDamaged: boolean;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command.argument('<FILE...>', 'captures of Ethernet frames (pcap, pcapng, also gzip); - is standard input');
  addRegionOptions(command)
    .addOption(new Option('--icrc <MODE>', 'skip: not checked').choices(['check', 'skip']).default('check'))
    .option('--json', 'totals as one JSON object')
    .action(async (files: string[], flags: ReceiveFlags) => {
      checkRegion(flags, command);
      if (files.filter((file) => file === '-').length > 1) command.error('error: standard input can be read once');
      done(await receive(files, flags, io));
    });
}

/** The RNIC over the memory of the live epoch, with the store's accelerator if it has one. */
function rnicOf(store: EpochStore, flags: ReceiveFlags): SoftRnic {
  const { live } = store;
  const { icrc, remoteKey } = flags;
  try {
    if (live.accelerator === null) return regionRnic(flags, live, { icrc });
    const accelerator = new AcceleratorRnic(live.accelerator, [remoteKey]);
    const rnic = regionRnic(flags, live, { icrc, state: accelerator.state });
    rnic.useAccelerator(accelerator);
    return rnic;
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, EXIT.USAGE, error);
    throw error;
  }
}

async function receive(files: readonly string[], flags: ReceiveFlags, io: Io): Promise<number> {
  const trouble = new StoreTrouble((message) => say(io, message));
  const store = await openStore(flags, { onError: trouble.onError });
  const progress = new Progress(io, false);
  const received: Received = { frames: 0, notEthernet: 0, isDamaged: false };
  let rnic: SoftRnic;
  try {
    rnic = rnicOf(store, flags);
    for (const file of files) {
      if (io.signal.aborted) break;
      await receiveFile(file, rnic, received, progress, io);
    }
  } finally {
    progress.done();
    // Close the store even after an error: what was written is kept.
    await store.close().catch((error: unknown) => {
      throw storeFailure(error, flags.store);
    });
  }
  const { counters } = rnic;
  const output = new DataOutput(io.stdout);
  const { frames, notEthernet } = received;
  const { slotWrites, load, geometry } = store.live;
  if (flags.json === true) {
    const epoch = String(store.epoch);
    const counts = { ...rnicCounts(counters), epoch, slotWrites, slots: geometry.slots, load };
    output.line(JSON.stringify({ type: 'total', frames, notEthernet, ...counts }));
  } else {
    for (const line of rnicSummary(counters)) output.line(line);
    output.line(
      `${counted(frames, 'frame')}, ${grouped(counters.accepted)} accepted into epoch ${store.epoch} of ${flags.store}: ` +
        `load ${percent(load)} of ${grouped(geometry.slots)} slots`,
    );
  }
  await output.end();
  if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
  if (io.signal.aborted) say(io, `interrupted after ${counted(frames, 'frame')}`);
  if (notEthernet > 0) say(io, `${counted(notEthernet, 'frame')} left out: their captures are not of Ethernet`);
  return received.isDamaged || notEthernet > 0 || trouble.count > 0 ? EXIT.INPUT : EXIT.OK;
}

async function receiveFile(
  path: string,
  rnic: SoftRnic,
  received: Received,
  progress: Progress,
  io: Io,
): Promise<void> {
  const damage = await readFrames(
    path,
    io,
    ({ linkType, bytes, offsets, lengths, count }) => {
      received.frames += count;
      if (linkType === LinkType.ETHERNET) rnic.receiveRows(bytes, offsets, lengths, 0, count);
      else received.notEthernet += count;
      return true;
    },
    async () => {
      progress.update(() => `${counted(received.frames, 'frame')} received`);
      // Give checkpoints and signals a turn.
      await new Promise(setImmediate);
    },
  );
  if (damage === null) return;
  received.isDamaged = true;
  say(io, `${path}: ${damage.message}`);
}
