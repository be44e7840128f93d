import { cpus } from 'node:os';
import { crc32 as zlibCrc32 } from 'node:zlib';
import {
  CRC_32Q,
  crc32,
  createCrc,
  createVariableLengthHasher,
  type FlowColumns,
  flowCrc32Columns,
  flowCrc32Ipv4,
  flowCrc32Ipv6,
  flowXxh32Columns,
  flowXxh32Ipv4,
  flowXxh32Ipv6,
  writeFlowKeyIpv4,
  writeFlowKeyIpv6,
  xxh32,
  xxh64Into,
  xxh64Words13Into,
  xxh64Words37Into,
} from '@int/hash';
import loadXxHash from 'xxhash-wasm';

/*
 * Words are read as `word | 0` where there are many of them, as the README of the package advises: V8 boxes an
 * unsigned word above 2^31 - 1 that it passes to a function it did not inline.
 */

/** Keys per pass: with their columns and views they stay in the second-level cache. */
const KEYS = 8192;
const WARM_UP_ROUNDS = 12;
const ROUNDS = 31;
const IPV6 = 1;

/** One way to hash all keys: it writes the hash of key i to out[i], or to out[2 * i] (low word) and out[2 * i + 1]. */
interface Contender {
  readonly name: string;
  readonly peer: boolean;
  readonly pass: (out: Uint32Array) => void;
}

/** Contenders that compute the same function over the same keys; `reference` computes it in another way. */
interface Group {
  readonly title: string;
  readonly wordsPerHash: 1 | 2;
  readonly reference: (out: Uint32Array) => void;
  readonly contenders: readonly Contender[];
}

interface Keys {
  readonly columns: FlowColumns;
  /** All keys one after the other. */
  readonly bytes: Uint8Array;
  /** Bytes of one key. */
  readonly size: number;
  /** One view per key, made beforehand, which is the best case for what takes a whole Uint8Array. */
  readonly views: readonly Uint8Array[];
}

function makeKeys(ipv6: boolean): Keys {
  let state = 0x2545f491;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const column = (): Uint32Array => Uint32Array.from({ length: KEYS }, next);
  const columns: FlowColumns = {
    source0: column(),
    source1: column(),
    source2: column(),
    source3: column(),
    destination0: column(),
    destination1: column(),
    destination2: column(),
    destination3: column(),
    ports: column(),
    protocol: Uint8Array.from({ length: KEYS }, () => (next() % 3 === 0 ? 17 : 6)),
    flags: new Uint32Array(KEYS).fill(ipv6 ? IPV6 : 0),
    ipv6Mask: IPV6,
  };
  const size = ipv6 ? 37 : 13;
  const bytes = new Uint8Array(KEYS * size);
  for (let row = 0; row < KEYS; row++) {
    writeKey(columns, row, bytes, row * size);
  }
  const views = Array.from({ length: KEYS }, (_, row) => bytes.subarray(row * size, row * size + size));
  return { columns, bytes, size, views };
}

function writeKey(columns: FlowColumns, row: number, out: Uint8Array, offset: number): void {
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
  if (columns.flags[row] === IPV6) {
    writeFlowKeyIpv6(
      out,
      offset,
      source0[row]!,
      source1[row]!,
      source2[row]!,
      source3[row]!,
      destination0[row]!,
      destination1[row]!,
      destination2[row]!,
      destination3[row]!,
      columns.protocol[row]!,
      columns.ports[row]!,
    );
  } else {
    writeFlowKeyIpv4(out, offset, source0[row]!, destination0[row]!, columns.protocol[row]!, columns.ports[row]!);
  }
}

/** The reference for CRCs: zlib over bytes written anew for each key. */
function zlibReference({ columns, size }: Keys): (out: Uint32Array) => void {
  return (out) => {
    for (let row = 0; row < KEYS; row++) {
      const key = new Uint8Array(size);
      writeKey(columns, row, key, 0);
      out[row] = zlibCrc32(key);
    }
  };
}

function crcGroup(keys: Keys, title: string): Group {
  const { columns, bytes, size, views } = keys;
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
  const { ports, protocol } = columns;
  const scratch = new Uint8Array(size);
  const fromWords: Contender =
    size === 13
      ? {
          name: 'flowCrc32Ipv4, words',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              out[row] = flowCrc32Ipv4(source0[row]!, destination0[row]!, protocol[row]!, ports[row]!);
            }
          },
        }
      : {
          name: 'flowCrc32Ipv6, words',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              out[row] = flowCrc32Ipv6(
                source0[row]! | 0,
                source1[row]! | 0,
                source2[row]! | 0,
                source3[row]! | 0,
                destination0[row]! | 0,
                destination1[row]! | 0,
                destination2[row]! | 0,
                destination3[row]! | 0,
                protocol[row]!,
                ports[row]! | 0,
              );
            }
          },
        };
  return {
    title,
    wordsPerHash: 1,
    reference: zlibReference(keys),
    contenders: [
      {
        name: 'node:zlib crc32, views made beforehand',
        peer: true,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            out[row] = zlibCrc32(views[row]!);
          }
        },
      },
      {
        name: 'node:zlib crc32, key written from columns',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            writeKey(columns, row, scratch, 0);
            out[row] = zlibCrc32(scratch);
          }
        },
      },
      {
        name: 'crc32, bytes',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            out[row] = crc32(bytes, row * size, size);
          }
        },
      },
      fromWords,
      { name: 'flowCrc32Columns', peer: false, pass: (out) => flowCrc32Columns(columns, 0, KEYS, out) },
    ],
  };
}

/** Another polynomial, not reflected; the reference is its byte form, since zlib has none. */
function customCrcGroup({ columns, bytes, size }: Keys, title: string): Group {
  const crc = createCrc(CRC_32Q);
  const digestBytes = (out: Uint32Array): void => {
    for (let row = 0; row < KEYS; row++) {
      out[row] = crc.digest(bytes, row * size, size);
    }
  };
  return {
    title,
    wordsPerHash: 1,
    reference: digestBytes,
    contenders: [
      { name: 'digest, bytes', peer: true, pass: digestBytes },
      { name: 'flowColumns', peer: false, pass: (out) => crc.flowColumns(columns, 0, KEYS, out) },
    ],
  };
}

async function xxh32Group(keys: Keys, title: string): Promise<Group> {
  const { columns, bytes, size, views } = keys;
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
  const { ports, protocol } = columns;
  const { h32Raw } = await loadXxHash();
  const hasher = await createVariableLengthHasher();
  const scratch = new Uint8Array(size);
  const wasm = (out: Uint32Array): void => {
    for (let row = 0; row < KEYS; row++) {
      out[row] = h32Raw(views[row]!, 0);
    }
  };
  const fromWords: Contender =
    size === 13
      ? {
          name: 'flowXxh32Ipv4, words',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              out[row] = flowXxh32Ipv4(source0[row]!, destination0[row]!, protocol[row]!, ports[row]!);
            }
          },
        }
      : {
          name: 'flowXxh32Ipv6, words',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              out[row] = flowXxh32Ipv6(
                source0[row]! | 0,
                source1[row]! | 0,
                source2[row]! | 0,
                source3[row]! | 0,
                destination0[row]! | 0,
                destination1[row]! | 0,
                destination2[row]! | 0,
                destination3[row]! | 0,
                protocol[row]!,
                ports[row]! | 0,
              );
            }
          },
        };
  return {
    title,
    wordsPerHash: 1,
    reference: wasm,
    contenders: [
      { name: 'xxhash-wasm h32Raw, views made beforehand', peer: true, pass: wasm },
      {
        name: 'xxhash-wasm h32Raw, key written from columns',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            writeKey(columns, row, scratch, 0);
            out[row] = h32Raw(scratch, 0);
          }
        },
      },
      {
        name: 'createVariableLengthHasher().xxh32, ranges',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            out[row] = hasher.xxh32(bytes, row * size, size);
          }
        },
      },
      {
        name: 'xxh32, bytes',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            out[row] = xxh32(bytes, row * size, size);
          }
        },
      },
      fromWords,
      { name: 'flowXxh32Columns', peer: false, pass: (out) => flowXxh32Columns(columns, 0, KEYS, out) },
    ],
  };
}

async function xxh64Group(keys: Keys, title: string): Promise<Group> {
  const { columns, bytes, size, views } = keys;
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
  const { ports, protocol } = columns;
  const { h64Raw } = await loadXxHash();
  const pair = new Uint32Array(2);
  const wasm = (out: Uint32Array): void => {
    for (let row = 0; row < KEYS; row++) {
      const hash = h64Raw(views[row]!, 0n);
      out[2 * row] = Number(hash & 0xffffffffn);
      out[2 * row + 1] = Number(hash >> 32n);
    }
  };
  const fromWords: Contender =
    size === 13
      ? {
          name: 'xxh64Words13Into',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              xxh64Words13Into(pair, source0[row]! | 0, destination0[row]! | 0, protocol[row]!, ports[row]! | 0);
              out[2 * row] = pair[0]!;
              out[2 * row + 1] = pair[1]!;
            }
          },
        }
      : {
          name: 'xxh64Words37Into',
          peer: false,
          pass: (out) => {
            for (let row = 0; row < KEYS; row++) {
              xxh64Words37Into(
                pair,
                source0[row]! | 0,
                source1[row]! | 0,
                source2[row]! | 0,
                source3[row]! | 0,
                destination0[row]! | 0,
                destination1[row]! | 0,
                destination2[row]! | 0,
                destination3[row]! | 0,
                protocol[row]!,
                ports[row]! | 0,
              );
              out[2 * row] = pair[0]!;
              out[2 * row + 1] = pair[1]!;
            }
          },
        };
  return {
    title,
    wordsPerHash: 2,
    reference: wasm,
    contenders: [
      { name: 'xxhash-wasm h64Raw, views made beforehand', peer: true, pass: wasm },
      {
        name: 'xxh64Into, bytes',
        peer: false,
        pass: (out) => {
          for (let row = 0; row < KEYS; row++) {
            xxh64Into(pair, bytes, row * size, size);
            out[2 * row] = pair[0]!;
            out[2 * row + 1] = pair[1]!;
          }
        },
      },
      fromWords,
    ],
  };
}

/** Long messages, where the libraries that do more per call come into their own. */
async function longGroup(title: string): Promise<Group[]> {
  const size = 1500;
  const bytes = new Uint8Array(KEYS + size);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = (Math.imul(index, 0x9e3779b1) >>> 24) ^ index;
  }
  const views = Array.from({ length: KEYS }, (_, row) => bytes.subarray(row, row + size));
  const { h32Raw } = await loadXxHash();
  const zlib = (out: Uint32Array): void => {
    for (let row = 0; row < KEYS; row++) {
      out[row] = zlibCrc32(views[row]!);
    }
  };
  const wasm = (out: Uint32Array): void => {
    for (let row = 0; row < KEYS; row++) {
      out[row] = h32Raw(views[row]!, 0);
    }
  };
  const ours =
    (hash: (message: Uint8Array, offset: number, length: number) => number) =>
    (out: Uint32Array): void => {
      for (let row = 0; row < KEYS; row++) {
        out[row] = hash(bytes, row, size);
      }
    };
  return [
    {
      title: `CRC-32, ${title}`,
      wordsPerHash: 1,
      reference: zlib,
      contenders: [
        { name: 'node:zlib crc32, views made beforehand', peer: true, pass: zlib },
        { name: 'crc32, bytes', peer: false, pass: ours(crc32) },
      ],
    },
    {
      title: `xxh32, ${title}`,
      wordsPerHash: 1,
      reference: wasm,
      contenders: [
        { name: 'xxhash-wasm h32Raw, views made beforehand', peer: true, pass: wasm },
        { name: 'xxh32, bytes', peer: false, pass: ours(xxh32) },
      ],
    },
  ];
}

/** Every contender must give every hash of the reference before any is timed. */
function gate(group: Group): void {
  const expected = new Uint32Array(KEYS * group.wordsPerHash);
  group.reference(expected);
  for (const { name, pass } of group.contenders) {
    const out = new Uint32Array(expected.length);
    pass(out);
    const wrong = out.findIndex((value, index) => value !== expected[index]);
    if (wrong !== -1) {
      throw new Error(`${group.title}: ${name} gives ${out[wrong]} in word ${wrong}, not ${expected[wrong]}`);
    }
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/**
 * Times the contenders in turn, round by round, so that a disturbance falls on all of them; returns what it consumed.
 */
function measure(group: Group): number {
  const out = new Uint32Array(KEYS * group.wordsPerHash);
  const times = group.contenders.map((): number[] => []);
  let consumed = 0;
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    for (const [index, { pass }] of group.contenders.entries()) {
      const begin = performance.now();
      pass(out);
      const nanoseconds = ((performance.now() - begin) * 1e6) / KEYS;
      for (const value of out) {
        consumed = (consumed ^ value) >>> 0;
      }
      if (round >= WARM_UP_ROUNDS) {
        times[index]!.push(nanoseconds);
      }
    }
  }
  const peer = median(times[group.contenders.findIndex((contender) => contender.peer)]!);
  console.log(`\n${group.title}`);
  console.log(`  ${'form'.padEnd(46)}${'ns/key'.padStart(9)}${'min'.padStart(9)}${'speed'.padStart(9)}`);
  for (const [index, { name }] of group.contenders.entries()) {
    const middle = median(times[index]!);
    const least = Math.min(...times[index]!);
    const ratio = `${(peer / middle).toFixed(2)}x`;
    console.log(
      `  ${name.padEnd(46)}${middle.toFixed(1).padStart(9)}${least.toFixed(1).padStart(9)}${ratio.padStart(9)}`,
    );
  }
  return consumed;
}

/**
 * Prints nanoseconds per key for each form of each hash, the median and the least of the rounds, and its speed
 * relative to the first form listed (xxhash-wasm or node:zlib where they have the function). A wrong hash ends the
 * run before anything is timed.
 */
async function run(): Promise<void> {
  const ipv4 = makeKeys(false);
  const ipv6 = makeKeys(true);
  const groups: Group[] = [
    crcGroup(ipv4, 'CRC-32, IPv4 flow key (13 bytes)'),
    crcGroup(ipv6, 'CRC-32, IPv6 flow key (37 bytes)'),
    customCrcGroup(ipv4, 'CRC-32Q, IPv4 flow key (13 bytes)'),
    await xxh32Group(ipv4, 'xxh32, IPv4 flow key (13 bytes)'),
    await xxh32Group(ipv6, 'xxh32, IPv6 flow key (37 bytes)'),
    await xxh64Group(ipv4, 'xxh64, IPv4 flow key (13 bytes)'),
    await xxh64Group(ipv6, 'xxh64, IPv6 flow key (37 bytes)'),
    ...(await longGroup('messages of 1500 bytes')),
  ];
  for (const group of groups) {
    gate(group);
  }
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${KEYS} keys, ${ROUNDS} rounds`);
  let consumed = 0;
  for (const group of groups) {
    consumed = (consumed ^ measure(group)) >>> 0;
  }
  console.log(`\nall outputs folded: 0x${consumed.toString(16).padStart(8, '0')}`);
}

await run();
