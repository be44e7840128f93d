/**
 * What a collector of another protocol takes for the same way: goflow2, NetFlow v5 by UDP to Kafka as Protobuf, one flow record a
 * datagram. It reads no INT; a NetFlow record is shorter (72 bytes in all against 148) and needs less decoding.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { processNs, RECEIVE_CORE } from '../afxdp/network.js';
import type { Bench } from '../afxdp/speed.js';
import type { Template } from '../afxdp/template.js';
import { recordsIn } from '../collector-soak/found.js';

const PORT = 2055;
const TOPIC = 'flow-messages';
const RATE = 40_000;
const HEADERS = 14 + 20 + 8;
/** How long the last records may be on their way: it flushes each half second. */
const FLUSH_MS = 1500;

export interface PeerCost {
  readonly version: string;
  readonly rate: number;
  /** ns per datagram on the receiving core: of the kernel's thread, of the process; a value per round. */
  readonly kernelNs: number[];
  readonly receiverNs: number[];
  readonly lost: number[];
}

/** The program, if it is installed: INT_GOFLOW2, or in the search path. */
function goflow2(): { readonly path: string; readonly version: string } | null {
  const path = process.env.INT_GOFLOW2 ?? 'goflow2';
  const { status, stdout, stderr } = spawnSync(path, ['-v'], { encoding: 'utf8' });
  return status === 0 ? { path, version: `${stdout}${stderr}`.trim() } : null;
}

/** NetFlow v5 (a header of 24 bytes, a record of 48) in UDP, IPv4 and Ethernet. */
function netflow({ mac, address, sender }: Bench['cable']): Template {
  const frame = Buffer.alloc(HEADERS + 24 + 48);
  Buffer.from(mac.replaceAll(':', ''), 'hex').copy(frame);
  frame.writeUInt16BE(0x0800, 12);
  frame.writeUInt8(0x45, 14);
  frame.writeUInt16BE(frame.length - 14, 16);
  frame.writeUInt8(64, 22);
  frame.writeUInt8(17, 23);
  const ip = (text: string, at: number): void => {
    for (const [index, part] of text.split('.').entries()) frame.writeUInt8(Number(part), at + index);
  };
  ip(sender, 26);
  ip(address, 30);
  let sum = 0;
  for (let at = 14; at < 34; at += 2) sum += frame.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  frame.writeUInt16BE(~sum & 0xffff, 24);
  frame.writeUInt16BE(PORT, 34);
  frame.writeUInt16BE(PORT, 36);
  frame.writeUInt16BE(frame.length - 34, 38);
  frame.writeUInt16BE(5, HEADERS);
  frame.writeUInt16BE(1, HEADERS + 2);
  frame.writeUInt32BE(1_700_000_000, HEADERS + 8);
  const record = HEADERS + 24;
  ip('10.0.1.1', record);
  ip('10.0.2.2', record + 4);
  frame.writeUInt32BE(1, record + 16);
  frame.writeUInt32BE(1000, record + 20);
  frame.writeUInt16BE(80, record + 34);
  frame.writeUInt8(17, record + 38);
  // The sender counts on: the header's flow sequence, the record's source port, and an octet count.
  return {
    frame,
    sequence: HEADERS + 16,
    port: record + 32,
    stack: record + 20,
    hops: 1,
    words: 1,
    node: -1,
    value: 0,
  };
}

async function listening(child: ChildProcess): Promise<void> {
  // It says so in its log only; what answers on the port is asked instead.
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) throw new Error('goflow2 has ended');
    const socket = createSocket('udp4');
    const isFree = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(PORT, () => resolve(true));
    });
    socket.close();
    if (!isFree) return;
    await sleep(50);
  }
  throw new Error('goflow2 does not listen');
}

/** @returns null if it is not installed */
export async function measurePeer(bench: Bench, kafka: string): Promise<PeerCost | null> {
  const program = goflow2();
  if (program === null) return null;
  const { cable, sender, rounds, duration } = bench;
  const cost: PeerCost = { version: program.version, rate: RATE, kernelNs: [], receiverNs: [], lost: [] };
  const args = ['-listen', `netflow://:${PORT}`, '-addr', '127.0.0.1:18080', '-format', 'bin', '-loglevel', 'error'];
  const to = ['-transport', 'kafka', '-transport.kafka.brokers', kafka, '-transport.kafka.compression', 'snappy'];
  const more = ['-transport.kafka.flushfreq', '100ms', '-transport.kafka.topic', TOPIC, '-templates.path', '/tmp'];
  for (let round = 0; round < rounds; round++) {
    const command = ['-c', String(RECEIVE_CORE), program.path, ...args, ...to, ...more];
    const child = spawn('taskset', command, { stdio: ['ignore', 'ignore', 'ignore'] });
    try {
      await listening(child);
      await cable.settle();
      sender.use(netflow(cable));
      await sender.send({ frames: RATE, rate: RATE });
      await sleep(FLUSH_MS);
      const before = await recordsIn([kafka], [TOPIC]);
      const [kernelNs, receiverNs, arrived] = [cable.kernelNs(), processNs(child.pid!), cable.arrived()];
      const frames = Math.ceil(RATE * duration);
      await sender.send({ frames, rate: RATE });
      await sleep(FLUSH_MS);
      const came = cable.arrived() - arrived;
      cost.kernelNs.push((cable.kernelNs() - kernelNs) / came);
      const delivered = (await recordsIn([kafka], [TOPIC])) - before;
      cost.receiverNs.push((processNs(child.pid!) - receiverNs) / Math.max(delivered, 1));
      cost.lost.push(1 - delivered / frames);
    } finally {
      child.kill('SIGKILL');
    }
  }
  return cost;
}
