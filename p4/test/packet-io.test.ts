/** Packets to and from a controller over P4Runtime: with the programs that can send to one, by this project's client and by finsy. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { main } from '@int/cli';
import { P4RuntimeClient, P4RuntimeServer, P4vmTarget, type PacketIn } from '@int/p4runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skip } from '../../.ci/test/requires.js';
import { until } from '../../.ci/test/until.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const CPU = 510;

let server: P4RuntimeServer;
let target: P4vmTarget;
let address: string;
let sent: { port: number; frame: string }[];
beforeEach(async () => {
  sent = [];
  target = new P4vmTarget({
    cpuPort: CPU,
    onTransmit: (port, bytes, offset, length) =>
      sent.push({ port, frame: Buffer.from(bytes.subarray(offset, offset + length)).toString('hex') }),
  });
  server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
  const { host, port } = await server.listen({ port: 0 });
  address = `${host}:${port}`;
});
afterEach(() => server.close());

async function control(...commands: string[]): Promise<void> {
  const said: Buffer[] = [];
  const stream = (): PassThrough => new PassThrough().on('data', (chunk: Buffer) => said.push(chunk));
  const code = await main(['node', 'int', 'p4', 'control', '--target', address, '-'], {
    stdin: Readable.from([Buffer.from(`${commands.join('\n')}\n`)]),
    stdout: stream(),
    stderr: stream(),
    env: {},
    signal: new AbortController().signal,
  });
  expect({ code, said: code === 0 ? '' : Buffer.concat(said).toString() }).toEqual({ code: 0, said: '' });
}

/** A frame of IPv4 and UDP to 10.0.2.n. */
function frame(n: number): Uint8Array {
  const ethernet = '020000000002020000000001' + '0800';
  const ip = `4500002e00000000401100000a000101${`0a0002${n.toString(16).padStart(2, '0')}`}`;
  return Buffer.from(`${ethernet}${ip}1388138900${'1a'}0000${'00'.repeat(18)}`, 'hex');
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** What a program is called, its tables, and its action for the controller. */
const PROGRAMS = [
  ['int', 'IntIngress'],
  ['dart', 'IntIngress'],
  ['flowcache', 'IntIngress'],
  ['intmon', 'IntmonIngress'],
] as const;

async function begin(program: string, ingress: string): Promise<void> {
  await control(
    `set_pipeline ${folder}${program}.p4`,
    `table_add ${ingress}.forward_ipv4 ${ingress}.to_controller 10.0.2.5/32 => 33`,
    `table_add ${ingress}.forward_ipv4 ${ingress}.forward 10.0.2.6/32 => 4`,
  );
}

describe('packets to and from a controller', () => {
  it.each(PROGRAMS)(
    'of %s.p4',
    async (program, ingress) => {
      await begin(program, ingress);
      const client = new P4RuntimeClient({ target: address, electionId: 9 });
      await client.connect();
      await client.codec();
      const arrived: PacketIn[] = [];
      const packets = client.packets();
      const reading = (async () => {
        for await (const packet of packets) arrived.push(packet);
      })();

      // By an entry: as it came, with port and reason. Others go their way.
      target.machine!.receive(3, frame(5));
      await until('the packet', () => arrived.length === 1);
      expect(arrived.map(({ payload, metadata }) => [hex(payload), metadata])).toEqual([
        [hex(frame(5)), { ingress_port: 3n, reason: 33n }],
      ]);
      target.machine!.receive(3, frame(6));
      expect(sent).toEqual([{ port: 4, frame: hex(frame(6)) }]);

      // Of the controller: by the port that it names, unchanged; or where the tables say, to itself, too.
      sent.length = 0;
      await client.packetOut(frame(5), { egress_port: 7, by_tables: 0 });
      await client.packetOut(frame(6), { egress_port: 0, by_tables: 1 });
      await until('both', () => sent.length === 2);
      expect(sent).toEqual([
        { port: 7, frame: hex(frame(5)) },
        { port: 4, frame: hex(frame(6)) },
      ]);
      await client.packetOut(frame(5), { egress_port: 0, by_tables: 1 });
      await until('the answer', () => arrived.length === 2);
      expect(arrived[1]!.metadata).toEqual({ ingress_port: 510n, reason: 33n });
      expect(hex(arrived[1]!.payload)).toBe(hex(frame(5)));
      await client.close();
      await reading;
    },
    120_000,
  );

  it('reports of int.p4 by a mirror session that leads to it', async () => {
    await begin('int', 'IntIngress');
    await control(
      'mirroring_add 9 510',
      'table_set_default IntEgress.node IntEgress.set_node 77',
      'table_set_default IntEgress.reports IntEgress.set_session 9',
      'table_add IntReport.collector IntReport.send 510 => 1 02:00:00:00:00:0a 02:00:00:00:00:0b 10.9.0.1 10.9.0.2 1000 32766 1 128',
      'table_add IntIngress.watch_ipv4 IntIngress.postcard 0&&&0 0&&&0 0&&&0 17&&&255 0->65535 0->65535 0&&&0 0&&&0 => 0xa000 1 1',
    );
    const client = new P4RuntimeClient({ target: address, electionId: 9 });
    await client.connect();
    await client.codec();
    const packets = client.packets();
    target.machine!.receive(3, frame(6));
    const { value } = await packets.next();
    const { payload, metadata } = value as PacketIn;
    expect(metadata).toEqual({ ingress_port: 3n, reason: 127n });
    // Ethernet, IPv4 and UDP to the collector, and the monitored packet at the end.
    expect(hex(payload).slice(0, 28)).toBe('02000000000b02000000000a0800');
    expect(hex(payload)).toContain('0a0900010a090002');
    expect(hex(payload)).toContain(hex(frame(6)).slice(28, 68));
    expect(sent.filter(({ port }) => port === 4)).toHaveLength(1);
    await client.close();
  }, 120_000);

  it.each(PROGRAMS.filter(([program]) => program !== 'dart' && program !== 'flowcache'))(
    'of %s.p4, with finsy',
    async (program, ingress) => {
      const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
      const python = join(cache, 'int', 'python', 'finsy');
      if (!existsSync(join(python, 'installed'))) skip('finsy is not installed (npm run setup:system)');
      await begin(program, ingress);
      const child = spawn(join(python, 'bin', 'python'), [
        `${folder}test/finsy_packets.py`,
        address,
        hex(frame(5)),
        hex(frame(6)),
      ]);
      let said = '';
      child.stdout.on('data', (data) => (said += data));
      let errors = '';
      child.stderr.on('data', (data) => (errors += data));
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect({ code, said, errors: code === 0 ? '' : errors }).toEqual({
        code: 0,
        said: 'packet in 510 33\n',
        errors: '',
      });
      expect(sent).toEqual([
        { port: 7, frame: hex(frame(6)) },
        { port: 4, frame: hex(frame(6)) },
      ]);
    },
    120_000,
  );
});
