/** What is measured, each in a process of its own: processor time, user and system, of all its threads. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AcceleratorRnic, DartStore, SoftRnic } from '@int/dart';
import { UdpRnic } from '@int/dart/node';
import { Producer } from '@platformatic/kafka';
import { makeDatagrams, makeFrames, makeRows, QUEUE_PAIR, REMOTE_KEY, rnicOptions, valueBytes } from './reports.js';

/** What a process came to. */
export interface Part {
  /** Nanoseconds of processor time, and by the clock on the wall, per report. */
  readonly cpu: number;
  readonly wall: number;
  readonly reports: number;
  /** Share of the reports that were stored; 1 where nothing can be refused. */
  readonly stored: number;
}

export interface PartOptions {
  /** Bytes of a datagram, or of a value. */
  readonly size: number;
  readonly reports: number;
  /** Reports before those that count. */
  readonly lead: number;
  /** Bytes of the store's slots. */
  readonly memory: number;
  /** Of the Kafka broker, or where to send datagrams to. */
  readonly port: number;
}

const ADDRESS = '127.0.0.1';
const BATCH = 2048;
const POLL_MILLISECONDS = 5;
export const KAFKA_BATCH = 1000;
export const KAFKA_IN_FLIGHT = 4;
export const KAFKA_TOPIC = 'reports';

interface Mark {
  readonly count: number;
  readonly cpu: number;
  readonly wall: number;
}

function markOf(count: number): Mark {
  const { user, system } = process.cpuUsage();
  return { count, cpu: (user + system) * 1000, wall: Number(process.hrtime.bigint()) };
}

function between(from: Mark, to: Mark, stored = 1): Part {
  const reports = to.count - from.count;
  return { cpu: (to.cpu - from.cpu) / reports, wall: (to.wall - from.wall) / reports, reports, stored };
}

function say(value: object): void {
  process.send!(value);
}

/** Waits until so many reports have been counted, and says what those after the first `lead` took. */
async function watch({ lead, reports }: PartOptions, counted: () => number): Promise<readonly [Mark, Mark]> {
  while (counted() < lead) await sleep(POLL_MILLISECONDS);
  const from = markOf(counted());
  while (counted() < from.count + reports) await sleep(POLL_MILLISECONDS);
  return [from, markOf(counted())];
}

function storeOf({ size, memory }: PartOptions): DartStore {
  return new DartStore({ memoryBytes: memory, valueBytes: valueBytes(size) });
}

/** Sends datagrams as fast as it can, until it is ended. */
async function send(options: PartOptions): Promise<never> {
  const { size, port } = options;
  const socket = createSocket('udp4');
  socket.bind(0, ADDRESS);
  await once(socket, 'listening');
  const { slots } = storeOf(options).geometry;
  const datagrams = makeDatagrams(size, slots, { source: socket.address().port, destination: port });
  socket.connect(port, ADDRESS);
  await once(socket, 'connect');
  for (let at = 0; ; at = (at + 64) % datagrams.length) {
    await sendAll(socket, datagrams, at, at + 64);
  }
}

function sendAll(socket: Socket, datagrams: readonly Uint8Array[], from: number, to: number): Promise<void> {
  return new Promise((resolve) => {
    for (let at = from; at < to - 1; at++) socket.send(datagrams[at]!);
    socket.send(datagrams[to - 1]!, () => resolve());
  });
}

/** A plain UDP receive: datagrams are counted, and nothing else. */
async function receive(options: PartOptions): Promise<Part> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 22 });
  let count = 0;
  let bytes = 0;
  socket.on('message', (payload) => {
    count++;
    bytes += payload.length;
  });
  socket.bind(0, ADDRESS);
  await once(socket, 'listening');
  say({ port: socket.address().port });
  const [from, to] = await watch(options, () => count);
  socket.close();
  return between(from, to, bytes / (count * options.size));
}

/** The same datagrams to a software RNIC behind the socket, which writes into a store. */
async function receiveAndStore(options: PartOptions): Promise<Part> {
  const rnic = new SoftRnic(rnicOptions(storeOf(options)));
  const listener = await UdpRnic.listen({ rnic, address: ADDRESS, port: 0, receiveBuffer: 1 << 22 });
  say({ port: listener.port });
  const [from, to] = await watch(options, () => listener.counters.datagrams);
  await listener.close();
  const { accepted, rejected } = rnic.counters;
  return between(from, to, accepted / (accepted + rejected));
}

/** Frames that have been received already, to a software RNIC with the store's accelerator, a batch a call; copied in. */
function storeFrames(options: PartOptions): Part {
  const store = storeOf(options);
  const accelerator = store.accelerator === null ? null : new AcceleratorRnic(store.accelerator, [REMOTE_KEY]);
  const rnic = new SoftRnic({ ...rnicOptions(store), ...(accelerator === null ? {} : { state: accelerator.state }) });
  rnic.useAccelerator(accelerator);
  const { bytes, offsets, lengths } = makeFrames(options.size, store.geometry.slots, { source: 1, destination: 4791 });
  return repeat(options, offsets.length, (from, to) => {
    // The frames come again: their sequence numbers begin anew.
    if (from === 0) rnic.expect(QUEUE_PAIR, 0);
    return rnic.receiveRows(bytes, offsets, lengths, from, to);
  });
}

/** Decoded reports to a store, two copies of each. */
function storeRows(options: PartOptions): Part {
  const store = storeOf(options);
  const { keys, values } = makeRows(options.size);
  return repeat(options, keys.offsets.length, (from, to) => {
    store.writeRows(keys, values, from, to);
    return to - from;
  });
}

function repeat({ lead, reports }: PartOptions, rows: number, insert: (from: number, to: number) => number): Part {
  let at = 0;
  let stored = 0;
  const run = (count: number): void => {
    for (let left = count; left > 0; left -= BATCH) {
      stored += insert(at, at + BATCH);
      at = (at + BATCH) % rows;
    }
  };
  run(lead);
  const from = markOf(0);
  stored = 0;
  run(reports);
  const count = Math.ceil(reports / BATCH) * BATCH;
  return between(from, markOf(count), stored / count);
}

/** A producer of Kafka: an object a report, batches, answers of the broker awaited. */
async function produce(options: PartOptions): Promise<Part> {
  const { size, reports, lead, port } = options;
  const producer = new Producer({ clientId: 'reports', bootstrapBrokers: [`${ADDRESS}:${port}`] });
  const values = Array.from({ length: 4096 }, (_, number) => Buffer.alloc(size, number & 0xff));
  let next = 0;
  const run = async (count: number): Promise<void> => {
    const running = new Set<Promise<unknown>>();
    for (let left = count; left > 0; left -= KAFKA_BATCH) {
      const messages = Array.from({ length: KAFKA_BATCH }, () => ({
        topic: KAFKA_TOPIC,
        partition: 0,
        value: values[next++ & 4095]!,
      }));
      const sending: Promise<unknown> = producer.send({ messages, acks: 1 }).finally(() => running.delete(sending));
      running.add(sending);
      if (running.size >= KAFKA_IN_FLIGHT) await Promise.race(running);
    }
    await Promise.all(running);
  };
  await run(lead);
  say({ warm: true });
  const from = markOf(0);
  await run(reports);
  const to = markOf(Math.ceil(reports / KAFKA_BATCH) * KAFKA_BATCH);
  await producer.close();
  return between(from, to);
}

/** By name; `send` runs until it is ended. */
export const PARTS: Readonly<Record<string, (options: PartOptions) => Part | Promise<Part>>> = {
  send,
  udp: receive,
  'udp-dart': receiveAndStore,
  frames: storeFrames,
  rows: storeRows,
  kafka: produce,
};
