import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { parseUdpAddress } from '@int/collector/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Listener, type Rotate } from '../../dart/listener.js';
import { openStore, StoreTrouble, storeFailure } from '../../dart/open-store.js';
import { addRegionOptions, checkRegion, type RegionFlags } from '../../dart/region-options.js';
import { given } from '../../given.js';
import { addFromOption, type SenderFlags } from '../../input/senders.js';
import { udpAddress } from '../../input/udp-address.js';
import { EXIT, type Io, say } from '../../io.js';
import { duration, wholeNumber } from '../../options.js';

interface ListenFlags extends RegionFlags, Pick<SenderFlags, 'from'> {
  readonly destination?: string;
  readonly icrc: 'check' | 'any-identification' | 'skip';
  readonly checkpoint: number;
  readonly rotate?: Rotate;
  readonly json?: true;
}

/** UDP port of RoCEv2 (IANA). */
const ROCE_PORT = 4791;
/** The longest time that timers accept. */
const MOST_MS = 2 ** 31 - 1;
const span = duration('a time', MOST_MS);

/** `60s`: a time; `0.8`: a load. */
function rotation(text: string): Rotate {
  if (/^\d*\.?\d+$/.test(text)) {
    if (Number(text) > 0) return { load: Number(text) };
  } else if (/^[\d.]+(ns|us|ms|s|min|h)$/.test(text)) {
    const everyMs = Math.ceil(span(text) / 1e6);
    if (everyMs > 0) return { everyMs };
  }
  throw new InvalidArgumentError('Give a time above 0 with a unit, such as 60s, or a load above 0, such as 0.8.');
}

/** An option parser for `udp://HOST:PORT`; the default port is that of RoCEv2. */
function roceAddress(text: string): UdpAddress {
  const { host } = udpAddress(text);
  const hasPort = /:\d+\/?$/.test(text.replace(/\[.*\]/, ''));
  return hasPort ? parseUdpAddress(text) : { host, port: ROCE_PORT };
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command.argument('<udp://HOST:PORT>', 'where to listen; without a port: 4791', roceAddress);
  addFromOption(addRegionOptions(command))
    .option('--destination <IP>', 'address that packets are sent to, where HOST is 0.0.0.0 or [::]')
    .addOption(
      new Option('--icrc <MODE>', 'any-identification: senders use IPv4 identifications other than 0')
        .choices(['check', 'any-identification', 'skip'])
        .default('check'),
    )
    .option(
      '--checkpoint <MS>',
      'milliseconds between checkpoints, 0: only at the end',
      wholeNumber('milliseconds', 0, MOST_MS),
      1000,
    )
    .option('--rotate <DURATION|LOAD>', 'begin a new epoch after a time, or at a load (never)', rotation)
    .option('--json', 'one JSON object per line: counters each second, totals at the end')
    .action(async (address: UdpAddress, flags: ListenFlags) => {
      done(await listen(address, flags, io, command));
    });
}

async function listen(address: UdpAddress, flags: ListenFlags, io: Io, command: Command): Promise<number> {
  const { queuePair = [1], remoteKey, base, destination, icrc, checkpoint, rotate } = flags;
  const isWildcard = address.host === '0.0.0.0' || address.host === '::';
  if (isWildcard && destination === undefined) {
    command.error(`error: ${address.host} is no address that packets are sent to: give --destination IP`);
  }
  checkRegion(flags, command);
  const trouble = new StoreTrouble((message) => say(io, message));
  const store = await openStore(flags, { checkpointMs: checkpoint, ...given({ rotate }), onError: trouble.onError });
  try {
    const { from } = flags;
    const listener = await Listener.open(store, { address, destination, icrc, region: flags, from }, io);
    const { geometry } = store.live;
    say(
      io,
      `listening on ${formatUdpAddress(listener.address)}, queue pair ${queuePair.join(', ')}, ` +
        `remote key ${remoteKey}, ${geometry.slots * geometry.slotBytes} bytes at 0x${base.toString(16)}`,
    );
    if (!listener.answersQuestions)
      say(io, `${flags.store} can have no socket: int dart query has to wait for the end`);
    await listener.run(flags.json === true);
  } finally {
    await store.close().catch((error: unknown) => {
      throw storeFailure(error, flags.store);
    });
  }
  if (trouble.count > 1) say(io, `in all, ${trouble.count} things went wrong with ${flags.store}`);
  return trouble.count > 0 ? EXIT.INPUT : EXIT.OK;
}
