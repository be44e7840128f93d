import { p4infoOf } from '@int/p4runtime';
import { writeDeviceProgram } from '@int/p4runtime/internals';
import { readRegular } from '../../input/text-file.js';
import type { Io } from '../../io.js';
import { readP4Info } from '../p4info-file.js';
import type { ProgramFlags } from '../program.js';
import { readDevice } from '../serve/device-files.js';
import { count, fail, whole } from './command-failure.js';
import type { ControlSession } from './control-session.js';
import type { Command } from './table-commands.js';
import { nameOf } from './table-texts.js';

const DEVICE = { name: 'device config', mostBytes: 1 << 27 } as const;
const MS = 1_000_000n;

/** Commands beside those of simple_switch_CLI: pipelines, packets and digests. */
export function pipelineCommands(flags: ProgramFlags, io: Io): Readonly<Record<string, Command>> {
  return {
    set_pipeline: async (session, words) => {
      count(words, 1, 2);
      const [first = '', second] = words;
      if (second === undefined) {
        const read = readDevice(first, flags, io) ?? fail(`${first} has errors`);
        await session.client.setPipeline({
          p4info: p4infoOf(read.program),
          deviceConfig: writeDeviceProgram(read.device),
        });
      } else {
        const p4info = await readP4Info(first, io);
        await session.client.setPipeline({ p4info, deviceConfig: await readRegular(second, DEVICE, io.signal) });
      }
      session.forget();
      await session.print('The pipeline is set');
    },
    show_pipeline: async (session, words) => {
      count(words, 0);
      const pipeline = (await session.client.getPipeline()) ?? fail('the switch has no pipeline');
      const { pkgInfo, tables, actions } = pipeline.p4info;
      const name = pkgInfo?.name === '' ? 'a program' : (pkgInfo?.name ?? 'a program');
      await session.print(
        `${name} for ${pkgInfo?.arch || 'an architecture without a name'}: ${tables.length} tables, ${actions.length} actions, ${pipeline.deviceConfig.length} bytes`,
      );
    },
    digest_enable: async (session, words) => {
      count(words, 1, 3);
      const digest = nameOf((await session.index()).named('digest', words[0]!));
      const maxListSize = whole(words[1] ?? '1', 'the length of a list');
      const maxTimeoutNs = BigInt(whole(words[2] ?? '0', 'the time in milliseconds')) * MS;
      const config = { maxListSize, maxTimeoutNs, ackTimeoutNs: 1000n * MS };
      const entity = { kind: 'digest', digest, config } as const;
      if (await session.isThere(session.client.insert(entity))) await session.client.modify(entity);
    },
    digest_disable: async (session, words) => {
      count(words, 1);
      await session.client.delete({
        kind: 'digest',
        digest: nameOf((await session.index()).named('digest', words[0]!)),
      });
    },
    packet_out: async (session, words) => {
      count(words, 1, Number.POSITIVE_INFINITY);
      const fields = words.filter((word) => word.includes('='));
      const hex = words.filter((word) => !word.includes('=')).join('');
      if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) fail('a packet is an even number of hexadecimal digits');
      const metadata = Object.fromEntries(
        fields.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      );
      await session.client.packetOut(Buffer.from(hex, 'hex'), metadata);
    },
    watch: async (session, words) => {
      count(words, 1, 2);
      await watch(
        session,
        Number(whole(words[0], 'the time in seconds')),
        words[1] === undefined ? undefined : whole(words[1], 'the number of events'),
        io,
      );
    },
  };
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, each) =>
    typeof each === 'bigint' ? `${each}` : each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each,
  );

/** Shows packets, digests and idle entries for a time, or until there were a number of them. */
async function watch(session: ControlSession, seconds: number, most: number | undefined, io: Io): Promise<void> {
  const { client } = session;
  await client.codec();
  const packets = client.packets();
  const digests = client.digests();
  const idle = client.idleTimeouts();
  const streams = [packets, digests, idle] as const;
  const end = (): void => {
    for (const stream of streams) stream.close();
  };
  const timer = setTimeout(end, Math.min(seconds, 1_000_000) * 1000);
  io.signal.addEventListener('abort', end);
  let left = most ?? Number.POSITIVE_INFINITY;
  const show = async (line: string): Promise<void> => {
    if (left <= 0) return;
    left--;
    await session.print(line);
    if (left <= 0) end();
  };
  try {
    await Promise.all([
      (async () => {
        for await (const { metadata, payload } of packets)
          await show(`packet ${plain(metadata)} ${Buffer.from(payload).toString('hex')}`);
      })(),
      (async () => {
        for await (const { digest, data } of digests)
          for (const each of data) await show(`digest ${digest} ${plain(each)}`);
      })(),
      (async () => {
        for await (const { entries } of idle)
          for (const { table, match } of entries) await show(`idle ${table} ${plain(match)}`);
      })(),
    ]);
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener('abort', end);
    for (const stream of streams) await stream.return();
    const dropped = streams.reduce((sum, stream) => sum + stream.dropped, 0);
    if (dropped > 0) await session.print(`${dropped} more events found no room`);
  }
}
