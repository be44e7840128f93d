import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CapturePort, ForwardingLoop, PortError, SoftSwitch, UdpPort } from '@int/p4switch';
import { PcapWriter, readCapture } from '@int/pcap';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { frame, programOf, TO_A } from './programs.js';
import { TestPort } from './test-port.js';

const LOCAL = '127.0.0.1';

async function bound(): Promise<{ socket: ReturnType<typeof createSocket>; port: number }> {
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.once('close', () => {
    isOpen = false;
  });
  onTestFinished(() => {
    if (isOpen) socket.close();
  });
  await new Promise<void>((resolve) => socket.bind(0, LOCAL, resolve));
  return { socket, port: socket.address().port };
}

describe('a UDP port', () => {
  it('is a tunnel: datagrams of the other side are frames, and frames go there', async () => {
    const { socket, port: remote } = await bound();
    const { socket: stranger } = await bound();
    const port = await UdpPort.open({
      local: { host: LOCAL, port: 0 },
      remote: { host: LOCAL, port: remote },
      queueFrames: 4,
      kernelDrops: () => async () => 7,
    });
    onTestFinished(() => port.close());
    const arrived: Buffer[] = [];
    socket.on('message', (bytes) => arrived.push(bytes));
    const sent = frame(1, 2);
    port.send(sent, 0, sent.length);
    await until('the frame', () => arrived.length === 1);
    expect(new Uint8Array(arrived[0]!)).toEqual(sent);

    const taken: Uint8Array[] = [];
    let isReady = false;
    port.onReady(() => {
      isReady = true;
    });
    stranger.send('stranger', port.local.port, LOCAL);
    socket.send(frame(9), port.local.port, LOCAL);
    await until('a frame', () => isReady);
    port.poll(10, (bytes, offset, length) => taken.push(bytes.slice(offset, offset + length)));
    expect(taken.map((bytes) => new Uint8Array(bytes))).toEqual([frame(9)]);

    // More than there is room for, and an empty one.
    socket.send(Buffer.alloc(0), port.local.port, LOCAL);
    for (let i = 0; i < 6; i++) socket.send(frame(i), port.local.port, LOCAL);
    await until('all frames', () => port.counts().dropped.rxFull === 2);
    port.poll(10, () => {});
    expect(port.counts()).toMatchObject({ received: 5, sent: 1, dropped: { rxFull: 2, rxDamaged: 1, failed: 0 } });
    await port.close();
    expect(port.counts().dropped.rxFull).toBe(9);
  });

  it('counts what the other side refuses, and says what cannot be opened', async () => {
    const { port: free, socket } = await bound();
    await new Promise<void>((resolve) => void socket.close(() => resolve()));
    const port = await UdpPort.open({ local: { host: LOCAL, port: 0 }, remote: { host: LOCAL, port: free } });
    port.send(frame(1), 0, 60);
    await until('the refusal', () => {
      port.send(frame(1), 0, 60);
      return port.counts().dropped.failed > 0;
    });
    port.send(new Uint8Array(70_000), 0, 70_000);
    expect(port.counts().dropped.txTooLong).toBe(1);
    await port.close();
    const other = await bound();
    await expect(
      UdpPort.open({ local: { host: LOCAL, port: other.port }, remote: { host: LOCAL, port: 1 } }),
    ).rejects.toSatisfy((error) => PortError.is(error) && error.code === 'ERR_PORT_SOCKET');
  });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'int-p4switch-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function capture(frames: readonly Uint8Array[], gapMs: number): Uint8Array {
  const writer = new PcapWriter({ linkType: 1 });
  return Buffer.concat([
    writer.header(),
    ...frames.map((data, at) => writer.record({ data, timeNs: 10n ** 18n + BigInt(at * gapMs * 1e6) })),
  ]);
}

describe('a capture port', () => {
  it('brings the frames of a capture at its pace, and writes what leaves', async () => {
    const path = folder();
    const frames = Array.from({ length: 5 }, (_, at) => frame(2, at));
    writeFileSync(join(path, 'in.pcap'), capture(frames, 20));
    const core = new SoftSwitch();
    const input = await CapturePort.open({ input: join(path, 'in.pcap'), output: null });
    core.addPort(1, input);
    core.addPort(2, await CapturePort.open({ input: null, output: join(path, 'out.pcap') }));
    core.load(programOf(TO_A));
    const start = performance.now();
    const loop = new ForwardingLoop([core]);
    loop.start();
    await until('the end of the capture', () => input.hasEnded && core.counts().transmitted === 5);
    expect(performance.now() - start).toBeGreaterThan(79);
    await loop.stop();
    await core.close();
    const { readFileSync } = await import('node:fs');
    expect([...readCapture(readFileSync(join(path, 'out.pcap')))].map(({ data }) => new Uint8Array(data))).toEqual(
      frames,
    );
  });

  it('reads no further ahead than there is room, and tells of damage', async () => {
    const path = folder();
    const frames = Array.from({ length: 3000 }, (_, at) => frame(2, at & 255));
    const whole = capture(frames, 0);
    writeFileSync(join(path, 'in.pcap'), whole.subarray(0, whole.length - 10));
    let damage: Error | null | undefined;
    const port = await CapturePort.open({
      input: join(path, 'in.pcap'),
      output: null,
      speed: Number.POSITIVE_INFINITY,
      onEnd: (error) => {
        damage = error;
      },
    });
    onTestFinished(() => port.close());
    let count = 0;
    let most = 0;
    await until('the end', () => {
      const now = port.poll(10_000, () => {});
      most = Math.max(most, now);
      count += now;
      return damage !== undefined && port.hasEnded;
    });
    expect(count).toBe(2999);
    expect(most).toBeLessThan(1500);
    expect(damage?.message).toMatch(/ERR_CAPTURE_TRUNCATED/);
    expect(port.counts().dropped.rxDamaged).toBe(1);
    await expect(CapturePort.open({ input: join(path, 'none'), output: null })).rejects.toSatisfy(
      (error) => PortError.is(error) && error.code === 'ERR_PORT_CAPTURE',
    );
  });
});

describe('ForwardingLoop', () => {
  it('sleeps without work, and wakes for frames, for queues and for its end', async () => {
    const core = new SoftSwitch({ rateBps: 48_000 });
    const { socket, port: remote } = await bound();
    const udp = await UdpPort.open({ local: { host: LOCAL, port: 0 }, remote: { host: LOCAL, port: remote } });
    const out = new TestPort();
    core.addPort(1, udp);
    core.addPort(2, out);
    core.load(programOf(TO_A));
    const loop = new ForwardingLoop([core], { spinMs: 0.01 });
    loop.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let i = 0; i < 3; i++) socket.send(frame(2, i), udp.local.port, LOCAL);
    await until('all frames', () => out.sent.length === 3);
    expect(loop.busyMs).toBeGreaterThan(0);
    await loop.stop();
    await core.close();
  });
});
