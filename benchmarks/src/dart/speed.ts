/** Writes, queries and frames per second: the contenders in turn, over the same keys. */
import { writeFileSync } from 'node:fs';
import { DartStore } from '@int/dart';
import { median } from '../decode/statistics.js';
import { type Command, type Outcome, Program } from './programs.js';
import { makeFrames, makeRnic, writeFrames } from './rnic.js';
import type { StoreShape } from './stores.js';

const C_PLAIN = 'C -O3 -march=native';
const C_PREFETCH = 'C -O3, prefetch';
const C_O2 = 'C -O2';
const ACCELERATOR = 'accelerator, rows in place';
const ACCELERATOR_COPIED = 'accelerator, rows copied in';
const RNIC_ACCELERATOR = 'accelerator, frames in place';
const RNIC_COPIED = 'accelerator, frames copied in';
const PLAIN = 'plain TypeScript';
export const RAW = 'random 24-byte writes, C';
export const RAW_PREFETCH = 'random 24-byte writes, C, prefetch';
export const RAW_PLAIN = 'random 24-byte writes, TypeScript';
const OBJECTS = ['map-string', 'map-bigint', 'lru-string', 'lru-bigint'] as const;
const OBJECT_NAMES: Readonly<Record<string, string>> = {
  'map-string': 'Map, string key',
  'map-bigint': 'Map, bigint key',
  'lru-string': 'lru-cache, string key',
  'lru-bigint': 'lru-cache, bigint key',
};

/** How much is measured. */
export interface Effort {
  readonly rounds: number;
  /** Keys of a pass that count, and those before them that do not. */
  readonly keys: number;
  readonly lead: number;
  /** Keys in a store before anything is timed; keys in a Map or in lru-cache. */
  readonly filled: number;
  readonly objects: number;
  readonly objectRounds: number;
  readonly objectKeys: number;
  /** Frames in memory, and turns over them in a pass. */
  readonly frames: number;
  readonly turns: number;
}

/** Nanoseconds a key, a raw write or a frame. */
export interface Figures {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median over the rounds of: this contender's time in the round / that of C -O3, and / that of C -O3 with prefetch. */
  readonly ratioToC: number | null;
  readonly ratioToPrefetch: number | null;
}
export type Table = Record<string, Figures>;

export interface SpeedResult {
  readonly shape: StoreShape;
  readonly slots: number;
  readonly filled: number;
  /** Of all slots, over all contenders that have them. */
  readonly checksum: number;
  /** Of the queries of the last round, those that had an answer. */
  readonly answered: number;
  readonly write: Table;
  readonly query: Table;
  readonly raw: Table;
  /** By round and contender: slots written a second / raw writes a second in C without prefetch, and with. */
  readonly shareOfRaw: Record<string, { readonly plain: number; readonly prefetch: number }>;
}

interface Pass {
  readonly name: string;
  readonly program: Program;
  readonly command: Command;
  readonly numbers: readonly number[];
}

type Times = Map<string, Outcome[]>;

/** All passes once a round, in turn; each round begins with another one. */
async function runRounds(passes: readonly Pass[], rounds: number): Promise<Times> {
  const times: Times = new Map(passes.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const ofRound = passes.map((_, k) => passes[(k + round) % passes.length]!);
    for (const { name, program, command, numbers } of ofRound) {
      times.get(name)!.push(await program.ask(command, ...numbers));
    }
  }
  return times;
}

function ratio(times: Times, list: readonly Outcome[], reference: string): number | null {
  const other = times.get(reference);
  return other === undefined ? null : median(list.map(({ ns }, round) => ns / other[round]!.ns));
}

function figuresOf(times: Times, list: readonly Outcome[]): Figures {
  const ns = list.map((outcome) => outcome.ns);
  return {
    median: median(ns),
    min: Math.min(...ns),
    max: Math.max(...ns),
    ratioToC: ratio(times, list, C_PLAIN),
    ratioToPrefetch: ratio(times, list, C_PREFETCH),
  };
}

function tableOf(times: Times, has: (name: string) => boolean = () => true): Table {
  return Object.fromEntries([...times].flatMap(([name, list]) => (has(name) ? [[name, figuresOf(times, list)]] : [])));
}

/** Where what the C programs need is written. */
export interface Files {
  readonly header: string;
  readonly frames: string;
}

/** A store that is only there for its header, of which not even the pages are touched. */
function headerOf({ memory, hash, copies }: StoreShape, path: string): { bytes: number; slots: number } {
  const store = new DartStore({ memoryBytes: memory, hash, copies, engine: 'plain' });
  const { header, geometry } = store.segments[0]!;
  writeFileSync(path, new Uint8Array(header.buffer, header.byteOffset, header.byteLength));
  return { bytes: geometry.byteLength, slots: store.geometry.slots };
}

interface Running {
  readonly program: Program;
  /** By mode. */
  readonly names: readonly string[];
  /** Keys written, and asked for, so far. */
  written: number;
  asked: number;
}

const CHECKED = 100_000;

/** All must agree on what is in the slots, and on the answers. */
async function checkSame(running: readonly Running[]): Promise<number> {
  const written = Math.max(...running.map((each) => each.written));
  const asked = Math.max(...running.map((each) => each.asked));
  let expected: string | undefined;
  let checksum = 0;
  for (const each of running) {
    const { program, names } = each;
    // Contenders with more modes have done more: the others catch up.
    if (each.written < written) await program.ask('write', 0, 0, written - each.written);
    if (each.asked < asked) await program.ask('query', 0, 0, asked - each.asked);
    const answers: Outcome[] = [];
    for (const k of [0, 1]) answers.push(await program.ask('query', k % names.length, 0, CHECKED));
    checksum = (await program.checksum())!;
    each.written = written;
    each.asked = asked + answers.length * CHECKED;
    const seen = JSON.stringify([checksum, ...answers.map((answer) => [answer.found, answer.checksum])]);
    expected ??= seen;
    if (seen !== expected) throw new Error(`${names[0]}: other slots or answers: ${seen}, not ${expected}`);
  }
  return checksum;
}

export async function measureSpeed(
  shape: StoreShape,
  effort: Effort,
  files: Files,
  hasC: boolean,
): Promise<SpeedResult> {
  const { bytes, slots } = headerOf(shape, files.header);
  const running: Running[] = [];
  const raw = Program.javaScript('raw', shape);
  const start = (program: Program, names: readonly string[]): void => {
    running.push({ program, names, written: 0, asked: 0 });
  };
  try {
    if (hasC) {
      start(Program.c('dart_bench', files.header, bytes), [C_PLAIN, C_PREFETCH]);
      start(Program.c('dart_bench_O2', files.header, bytes), [C_O2]);
    }
    const accelerator = Program.javaScript('accelerator', shape);
    const modes = await accelerator.ask<number>('modes');
    if (modes > 0) start(accelerator, [ACCELERATOR_COPIED, ACCELERATOR].slice(0, modes));
    else await accelerator.stop();
    start(Program.javaScript('plain', shape), [PLAIN]);
    for (const each of running) {
      const { program, names } = each;
      for (const mode of names.keys()) await program.ask('write', mode, 0, effort.filled / names.length);
      each.written = effort.filled;
    }
    await checkSame(running);
    const passes = (command: Command): Pass[] =>
      running.flatMap(({ program, names }) =>
        names.map((name, mode) => ({ name, program, command, numbers: [mode, effort.lead, effort.keys] })),
      );
    const rawPasses = [
      { name: RAW_PLAIN, program: raw, mode: 0 },
      ...(hasC ? [RAW, RAW_PREFETCH].map((name, mode) => ({ name, program: running[0]!.program, mode })) : []),
    ].map(({ name, program, mode }): Pass => {
      return { name, program, command: 'raw', numbers: [mode, effort.lead, 2 * effort.keys] };
    });
    const writes = await runRounds([...passes('write'), ...rawPasses], effort.rounds);
    const queries = await runRounds(passes('query'), effort.rounds);
    for (const each of running) {
      const given = effort.rounds * (effort.lead + effort.keys) * each.names.length;
      each.written += given;
      each.asked += given;
    }
    const checksum = await checkSame(running);
    const isRaw = (name: string): boolean => rawPasses.some((pass) => pass.name === name);
    const write = tableOf(writes, (name) => !isRaw(name));
    return {
      shape,
      slots,
      filled: effort.filled,
      checksum,
      answered: queries.get(PLAIN)!.at(-1)!.found / (effort.lead + effort.keys),
      write,
      query: tableOf(queries),
      raw: tableOf(writes, isRaw),
      shareOfRaw: hasC ? sharesOf(writes, Object.keys(write), shape.copies) : {},
    };
  } finally {
    for (const { program } of running) await program.stop();
    await raw.stop();
  }
}

function sharesOf(times: Times, names: readonly string[], copies: number): SpeedResult['shareOfRaw'] {
  const share = (name: string, raw: string): number =>
    median(times.get(name)!.map(({ ns }, round) => (times.get(raw)![round]!.ns * copies) / ns));
  return Object.fromEntries(
    names.map((name) => [name, { plain: share(name, RAW), prefetch: share(name, RAW_PREFETCH) }]),
  );
}

export interface ObjectsResult {
  /** Keys in each. */
  readonly keys: number;
  readonly write: Table;
  readonly query: Table;
  /** Bytes that the process has in use more than before, per key. */
  readonly bytesPerKey: Record<string, number>;
}

/** What a program would take instead; one after the other, because of the memory. New keys are written. */
export async function measureObjects(shape: StoreShape, effort: Effort): Promise<ObjectsResult> {
  const writes: Times = new Map();
  const queries: Times = new Map();
  const bytesPerKey: Record<string, number> = {};
  for (const name of OBJECTS) {
    const program = Program.javaScript(name, shape);
    const shown = OBJECT_NAMES[name]!;
    try {
      const before = await program.memory();
      await program.ask('write', 0, 0, effort.objects);
      bytesPerKey[shown] = ((await program.memory()) - before) / effort.objects;
      const { found } = await program.ask('query', 0, 0, 10_000);
      if (found !== 10_000) throw new Error(`${name}: found ${found} of 10000 values`);
      const numbers = [0, 0, effort.objectKeys];
      const query: Pass = { name: shown, program, command: 'query', numbers };
      queries.set(shown, (await runRounds([query], effort.objectRounds)).get(shown)!);
      const write: Pass = { name: shown, program, command: 'write', numbers };
      writes.set(shown, (await runRounds([write], effort.objectRounds)).get(shown)!);
    } finally {
      await program.stop();
    }
  }
  return { keys: effort.objects, write: tableOf(writes), query: tableOf(queries), bytesPerKey };
}

export interface RnicResult {
  readonly frames: number;
  readonly bytesOfFrame: number;
  readonly slots: number;
  readonly receive: Table;
}

/** Frames in memory to the software RNIC, iCRC looked at. */
export async function measureRnic(shape: StoreShape, effort: Effort, files: Files, hasC: boolean): Promise<RnicResult> {
  const { bytes, slots } = headerOf(shape, files.header);
  const store = new DartStore({ memoryBytes: shape.memory, hash: shape.hash, copies: shape.copies, engine: 'plain' });
  const frames = makeFrames(store, effort.frames);
  writeFrames(files.frames, makeRnic(store), frames);
  const running: { readonly name: string; readonly program: Program }[] = [];
  try {
    if (hasC) {
      for (const [name, program] of [
        [C_PLAIN, 'dart_bench'],
        [C_O2, 'dart_bench_O2'],
      ] as const) {
        running.push({ name, program: Program.c(program, files.header, bytes, files.frames) });
      }
    }
    for (const [name, engine] of [
      [RNIC_ACCELERATOR, 'in-place'],
      [RNIC_COPIED, 'accelerator'],
      [PLAIN, 'plain'],
    ] as const) {
      if (engine !== 'plain' && !new DartStore({ slots: 1 }).usesAccelerator) continue;
      running.push({ name, program: Program.rnic(engine, shape, files.frames) });
    }
    let expected: number | null = null;
    for (const { name, program } of running) {
      const { found } = await program.ask('frames', 2);
      const checksum = await program.checksum();
      expected ??= checksum;
      if (found !== 2 * effort.frames) throw new Error(`${name}: executed ${found} of ${2 * effort.frames} frames`);
      if (checksum !== expected) throw new Error(`${name}: another content of the slots`);
    }
    const passes = running.map(({ name, program }): Pass => {
      return { name, program, command: 'frames', numbers: [effort.turns] };
    });
    const times = await runRounds(passes, effort.rounds);
    return { frames: effort.frames, bytesOfFrame: frames.lengths[0]!, slots, receive: tableOf(times) };
  } finally {
    for (const { program } of running) await program.stop();
  }
}
