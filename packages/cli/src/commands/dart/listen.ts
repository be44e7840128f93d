import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { parseUdpAddress } from '@int/collector/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Listener, type Rotate } from '../../dart/listener.js';
import { openStore, StoreTrouble, storeFailure } from '../../dart/open-store.js';
import { address64, addStoreOptions, type StoreFlags } from '../../dart/options.js';
import { given } from '../../given.js';
import { udpAddress } from '../../input/udp-address.js';
import { EXIT, type Io, say } from '../../io.js';
import { duration, wholeNumber } from '../../options.js';

interface ListenFlags extends StoreFlags {
  readonly queuePair?: readonly number[];
  readonly remoteKey: number;
  readonly base: bigint;
  readonly service: 'uc' | 'rc';
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

function queuePairs(text: string, previous: readonly number[] = []): number[] {
  const number = wholeNumber('a queue pair', 0, 0xff_ffff)(text);
  if (previous.includes(number)) throw new InvalidArgumentError(`${number} is given twice.`);
  return [...previous, number];
}

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
  addStoreOptions(command)
    .option('--queue-pair <N>', 'queue pair of a switch; repeat for more (1)', queuePairs)
    .option('--remote-key <N>', 'key of the memory region', wholeNumber('a key', 0, 0xffff_ffff), 1)
    .addOption(new Option('--base <ADDR>', 'address of the first slot').argParser(address64).default(0n, '0'))
    .addOption(
      new Option('--service <NAME>', 'uc: packets that are lost are lost; rc: with answers and atomics')
        .choices(['uc', 'rc'])
        .default('uc'),
    )
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
  const { queuePair = [1], remoteKey, base, service, destination, icrc, checkpoint, rotate } = flags;
  const isWildcard = address.host === '0.0.0.0' || address.host === '::';
  if (isWildcard && destination === undefined) {
    command.error(`error: ${address.host} is no address that packets are sent to: give --destination IP`);
  }
  if (service === 'rc' && base % 8n !== 0n) command.error('error: atomics need a --base that is a multiple of 8');
  const trouble = new StoreTrouble((message) => say(io, message));
  const store = await openStore(flags, { checkpointMs: checkpoint, ...given({ rotate }), onError: trouble.onError });
  try {
    const regions = { queuePairs: queuePair, service, remoteKey, base };
    const listener = await Listener.open(store, { address, destination, icrc, ...regions }, io);
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
