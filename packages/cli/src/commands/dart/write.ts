import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { type Command, InvalidArgumentError } from 'commander';
import { openStore, StoreTrouble, storeFailure } from '../../dart/open-store.js';
import { addStoreOptions, type StoreFlags } from '../../dart/options.js';
import { RowWriter } from '../../dart/row-writer.js';
import { addSenderOptions, checkKeepUnknown, fromOf, knownOf, type SenderFlags } from '../../input/senders.js';
import { EXIT, type Io, say, sayHint } from '../../io.js';
import { addNetworkOptions, type DeviceFlags } from '../../network/device-options.js';
import { type KnownNetwork, readNetwork } from '../../network/known-network.js';
import { DataOutput } from '../../output/data-output.js';
import { counted, grouped, percent } from '../../output/numbers.js';
import { Progress } from '../../output/progress.js';

interface WriteFlags extends StoreFlags, DeviceFlags, SenderFlags {
  readonly postcards?: true;
  readonly metrics?: readonly MetricName[];
  readonly json?: true;
}

const POSTCARD_METRICS: readonly MetricName[] = ['hopLatency', 'queueOccupancy', 'egressUtilization'];

function metricList(text: string): MetricName[] {
  const names = text.split(',');
  const unknown = names.find((name) => !isMetricName(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`'${unknown}' is none of ${METRIC_NAMES.join(', ')}.`);
  return names as MetricName[];
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command.argument('<FILE...>', 'pcap, pcapng or NDJSON, also gzip; - is standard input');
  addStoreOptions(command)
    .option('--postcards', 'a row for each hop: the key is the flow and the switch, the value its metrics')
    .option('--metrics <NAME,...>', `with --postcards: what a value holds (${POSTCARD_METRICS})`, metricList)
    .option('--json', 'totals as one JSON object');
  addNetworkOptions(addSenderOptions(command)).action(async (files: string[], flags: WriteFlags) => {
    checkKeepUnknown(flags, command);
    if (flags.metrics !== undefined && flags.postcards !== true) {
      command.error('error: --metrics goes with --postcards: other values are paths');
    }
    if (files.filter((file) => file === '-').length > 1) command.error('error: standard input can be read once');
    done(await write(files, flags, await readNetwork(flags, io), io));
  });
}

async function write(files: readonly string[], flags: WriteFlags, network: KnownNetwork, io: Io): Promise<number> {
  const trouble = new StoreTrouble((message) => say(io, message));
  const store = await openStore(flags, { onError: trouble.onError });
  const progress = new Progress(io, false);
  const values = flags.postcards === true ? (flags.metrics ?? POSTCARD_METRICS) : 'path';
  const onProgress = (): void => progress.update(() => `${counted(writer.keys, 'key')} written`);
  const { decode } = network.device;
  const admitted = { ...fromOf(flags, network), ...knownOf(flags, network) };
  const writer = new RowWriter(store, { decode, values, onProgress, ...admitted }, io);
  try {
    for (const file of files) {
      if (io.signal.aborted) break;
      await writer.write(file);
    }
  } finally {
    progress.done();
    // Close the store even after an error: rows already written are kept.
    await store.close().catch((error: unknown) => {
      throw storeFailure(error, flags.store);
    });
  }
  const { totals, hasFailed, keys } = writer;
  const { geometry, load } = store.live;
  const { notOk = 0, noFlow = 0, noNode = 0, cut = 0, namelessHops = 0 } = writer.reports ?? {};
  const { frames, dropped, lines } = totals;
  const badLines = writer.badLines.count;
  const { unknownSwitchLines } = writer;
  const skipped = { notOk, noFlow, noNode, namelessHops, badLines, unknownSwitchLines };
  const output = new DataOutput(io.stdout);
  if (flags.json === true) {
    const epoch = String(store.epoch);
    const { slots, copies } = geometry;
    const read = { frames, dropped, lines };
    output.line(JSON.stringify({ type: 'total', keys, ...read, skipped, cut, epoch, slots, copies, load }));
  } else {
    output.line(
      `${counted(keys, 'key')} written into epoch ${store.epoch} of ${flags.store}: ` +
        `load ${percent(load)} of ${grouped(geometry.slots)} slots`,
    );
    const left = Object.entries(SKIPPED).filter(([reason]) => skipped[reason as keyof typeof SKIPPED] > 0);
    for (const [reason, words] of left) {
      output.line(`not written: ${grouped(skipped[reason as keyof typeof SKIPPED])} ${words}`);
    }
    for (const [reason, words] of Object.entries(REFUSED)) {
      const count = dropped[reason] ?? 0;
      if (count > 0) output.line(`not written: ${grouped(count)} frames ${words}`);
    }
    if (cut > 0) output.line(`cut: ${counted(cut, 'path')} longer than a value`);
  }
  await output.finish();
  if (io.signal.aborted) say(io, `interrupted after ${counted(keys, 'key')}`);
  const { truncated = 0, malformed = 0, unsupported = 0 } = dropped;
  const wrong = truncated + malformed + unsupported;
  const { 'unknown-source': strangers = 0, 'unknown-switch': strange = 0 } = dropped;
  if (keys + wrong + strangers + strange === 0 && Object.values(skipped).every((count) => count === 0))
    say(io, `nothing to write: no reports in ${counted(frames, 'frame')}, no rows in ${counted(lines, 'line')}`);
  if (wrong > 0)
    say(
      io,
      `of ${counted(frames, 'frame')}, ${truncated} truncated, ${malformed} malformed, ${unsupported} unsupported`,
    );
  sayHint(io, writer.hint);
  return wrong + badLines > 0 || hasFailed || trouble.count > 0 ? EXIT.INPUT : EXIT.OK;
}

const REFUSED = {
  'unknown-source': 'of unknown sources',
  'unknown-switch': 'that name an unknown switch',
} as const;

const SKIPPED = {
  notOk: 'records that are no whole report',
  noFlow: 'reports of unknown flow',
  noNode: 'reports in which no switch is named',
  namelessHops: 'hops whose switch is not named',
  badLines: 'lines that are no row',
  unknownSwitchLines: 'lines that name an unknown switch',
} as const;
