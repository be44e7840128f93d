import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decodeReport } from '@int/codec';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freeUdpPort } from '../../../.ci/test/ports.mjs';
import { until } from '../../../.ci/test/until.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const P4 = fileURLToPath(new URL('../../../p4/', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../../examples/data/fabric.yaml', import.meta.url));
const PACKETS = fileURLToPath(new URL('../../../examples/data/packets.pcap', import.meta.url));
const LOCAL = '127.0.0.1';

/** The totals of a switch. */
interface Total {
  readonly ports: Readonly<
    Record<number, { readonly sent: number; readonly dropped: Readonly<Record<string, number>> }>
  >;
}

/** The end of a tunnel outside of the fabric. */
async function end(): Promise<{
  readonly spec: string;
  readonly arrived: Uint8Array[];
  send(frame: Uint8Array): void;
}> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => socket.bind(0, LOCAL, resolve));
  const port = await freeUdpPort();
  const arrived: Uint8Array[] = [];
  socket.on('message', (frame) => arrived.push(new Uint8Array(frame)));
  return {
    spec: `${LOCAL}:${port}-${LOCAL}:${socket.address().port}`,
    arrived,
    send: (frame) => socket.send(frame, port, LOCAL),
  };
}

/** A frame of UDP from 10.0.1.1 to 10.0.2.1. */
function datagram(number: number): Uint8Array {
  const head = '0200000001020200000001010800' + '4500002e000100004011' + '0000' + '0a000101' + '0a000201';
  const bytes = new Uint8Array(60);
  bytes.set(Buffer.from(`${head}${'03e8'}${'1b58'}${'001a'}0000`, 'hex'));
  bytes[59] = number;
  let sum = 0;
  for (let at = 14; at < 34; at += 2) sum += (bytes[at]! << 8) | bytes[at + 1]!;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  bytes[24] = (~sum >> 8) & 255;
  bytes[25] = ~sum & 255;
  return bytes;
}

describe('int p4 fabric', () => {
  test('runs switches with links of a rate and a delay, and tunnels to hosts', async () => {
    const [h1, h2, collector] = [await end(), await end(), await end()];
    const text = readFileSync(EXAMPLE, 'utf8')
      .replaceAll('../../p4/', P4)
      .replace('127.0.0.1:5001-127.0.0.1:6001', h1.spec)
      .replace('127.0.0.1:5002-127.0.0.1:6002', h2.spec)
      .replace('reports:127.0.0.1:32766', `reports:${collector.spec.split('-')[1]}`)
      .replaceAll('delay: 1ms', 'delay: 10ms');
    const fabric = new Running(['p4', 'fabric', await files.write('fabric.yaml', text), '--json']);
    await fabric.saying(/3 switches, 2 links: forwarding/);
    const start = performance.now();
    for (let i = 0; i < 20; i++) h1.send(datagram(i));
    await until('all datagrams and reports', () => h2.arrived.length === 20 && collector.arrived.length === 20);
    expect(performance.now() - start).toBeGreaterThan(19.9);
    expect(h2.arrived).toEqual(Array.from({ length: 20 }, (_, i) => datagram(i)));
    for (const frame of collector.arrived) {
      const [record] = decodeReport(frame).records;
      expect(record!.path).toEqual([1, 2, 3]);
    }
    fabric.child.kill('SIGINT');
    const { code, stdout } = await fabric.end();
    expect(code).toBe(0);
    const totals = ndjson(stdout).filter(({ type }) => type === 'total');
    expect(totals).toMatchObject([
      {
        switch: 'source',
        deviceId: 1,
        received: 20,
        transmitted: 20,
        ports: { 2: { name: 'link:transit:1', sent: 20 } },
      },
      { switch: 'transit', deviceId: 2, received: 20, transmitted: 20 },
      { switch: 'sink', deviceId: 3, received: 20, transmitted: 40, egressClones: 20 },
    ]);
  });

  test('takes packets of a capture by int replay, and its telemetry comes to int collect', {
    timeout: 120_000,
  }, async () => {
    const ports: number[] = [];
    while (ports.length < 5) ports.push(await freeUdpPort());
    const text = readFileSync(EXAMPLE, 'utf8')
      .replaceAll('../../p4/', P4)
      .replace('127.0.0.1:5001-127.0.0.1:6001', `127.0.0.1:${ports[0]}-127.0.0.1:${ports[1]}`)
      .replace('127.0.0.1:5002-127.0.0.1:6002', `127.0.0.1:${ports[2]}-127.0.0.1:${ports[3]}`)
      .replace('reports:127.0.0.1:32766', `reports:127.0.0.1:${ports[4]}`)
      .replaceAll('queue: 64', 'queue: 1024');
    const collect = new Running(['collect', '--listen', `udp://127.0.0.1:${ports[4]}`]);
    await collect.until(() => collect.stdout.includes('received'));
    const fabric = new Running(['p4', 'fabric', await files.write('fabric.yaml', text), '--json']);
    await fabric.saying(/forwarding/);
    const replay = await run([
      'replay',
      PACKETS,
      '--tunnel',
      `127.0.0.1:${ports[1]}-127.0.0.1:${ports[0]}`,
      '--rate',
      '500',
    ]);
    expect(replay).toMatchObject({ code: 0 });
    expect(replay.stdout).toContain('200 sent, 0 skipped, 0 failed');
    await collect.until(() => collect.stdout.includes(' 200 received'));
    for (const { child } of [fabric, collect]) child.kill('SIGINT');
    expect((await collect.end()).stdout).toContain('200 received, 200 decoded, 0 dropped');
    const [, , sink] = ndjson((await fabric.end()).stdout).filter(({ type }) => type === 'total');
    expect(sink).toMatchObject({
      received: 200,
      ports: { 7: { name: `reports:127.0.0.1:${ports[4]}`, sent: 200, dropped: { txNoPayload: 0, failed: 0 } } },
    });
    // Nobody is there as h2.
    const { sent, dropped } = (sink as unknown as Total).ports[2]!;
    expect(sent + dropped.failed!).toBe(200);
    const both = await run(['replay', PACKETS, '--tunnel', '127.0.0.1:1-127.0.0.1:2', '--to', 'udp://127.0.0.1:3']);
    expect(both).toMatchObject({ code: 2, stdout: '' });
    const wrong = await run(['replay', PACKETS, '--tunnel', '127.0.0.1:1']);
    expect(wrong.stderr).toContain('HOST:PORT-HOST:PORT');
  });

  test('says what is wrong in the file, with line and column', async () => {
    const problems = async (text: string): Promise<string[]> => {
      const path = await files.write('wrong.yaml', text);
      const { code, stderr, stdout } = await run(['p4', 'fabric', path]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      return stderr
        .trim()
        .split('\n')
        .map((line) => line.replace(path, 'F'));
    };
    expect(
      await problems(`version: 1
switches:
  s1: { program: x.p4, colour: red }
  s2: { deviceId: 1.5 }
links:
  - { ends: ['s1:2'], delay: 5 }
`),
    ).toEqual([
      expect.stringMatching(/^F:3:24: no such key, 'colour': there are program, commands/),
      expect.stringMatching(/^F:4:19: give a whole number/),
      'F:6:30: give a time: 10us, 1.5ms, 1s',
    ]);
    expect(
      await problems(`version: 1
switches:
  s1: { program: x.p4, cpuPort: 9 }
  s2: { commands: c.txt, deviceId: 1 }
links:
  - ends: ['s1:2', 's3:1']
  - ends: ['s1:2', 's1:9']
  - ends: ['s1:3']
hosts:
  h1: { at: 's1:5' }
  h2: { at: 's1:600', udp: nowhere }
ports:
  's2:1': what:eth0
`),
    ).toEqual([
      'F:4:3: device 1 is s1 already',
      'F:4:19: commands go with a program',
      'F:6:20: there is no switch s3',
      'F:7:12: a link is at port 2 of s1 already',
      'F:7:20: the CPU port is at port 9 of s1 already',
      'F:8:11: a link has two ends: [s1:2, s2:1]',
      'F:10:3: give host h1 either an address or udp',
      "F:11:13: 's1:600' is no port of a switch: write SWITCH:PORT with a port from 0 to 510",
      'F:11:28: give HOST:PORT-HOST:PORT',
      expect.stringMatching(/^F:13:11: 'what:eth0' is no port/),
    ]);
    const { code, stderr } = await run([
      'p4',
      'fabric',
      await files.write('bare.yaml', 'version: 1\nswitches: { s1: }\n'),
    ]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('switch s1 has no program') });
  });
});
