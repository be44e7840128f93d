import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { limit } from '../../../.ci/test/requires.js';
import { XdpError } from '../../src/errors.js';
import { LoadedProgram } from '../../src/loaded-program.js';
import { steeredPorts, XdpProgram } from '../../src/program.js';
import { addon } from '../addon.js';
import { SEED } from '../seed.js';

const PORT = 32766;

/** The program, loaded but attached to nothing. Skips the test where the kernel or the rights do not allow that. */
function load(ports: readonly number[] | 'all'): LoadedProgram {
  if (process.platform !== 'linux') limit(`XDP programs run in Linux only, this is ${process.platform}`);
  addon();
  try {
    const program = new LoadedProgram('steer');
    program.map('ports').update(0, steeredPorts(ports));
    return program;
  } catch (error) {
    if (XdpError.is(error) && (error.code === 'ERR_XDP_PERMISSION' || error.code === 'ERR_XDP_KERNEL')) {
      limit(`XDP programs cannot be loaded here: ${error.message}`);
    }
    throw error;
  }
}

/** What became of frames so far. There is no socket here: what would be steered passes and is counted in `noSocket`. */
function counted(program: LoadedProgram): { wanted: number; passed: number } {
  const [steered, passed, noSocket] = program.map('totals').sum(0);
  return { wanted: Number(steered! + noSocket!), passed: Number(passed) };
}

/** Whether one frame is one for a socket. */
function wants(program: LoadedProgram, frame: Uint8Array): boolean {
  const before = counted(program);
  const { action, frame: after, meta } = program.run(frame);
  const now = counted(program);
  expect(action).toBe('pass');
  expect(meta.length).toBe(0);
  expect(Buffer.compare(after, frame)).toBe(0);
  expect(now.wanted - before.wanted + now.passed - before.passed).toBe(1);
  return now.wanted > before.wanted;
}

interface Shape {
  readonly tags: readonly number[];
  readonly version: 4 | 6;
  /** Words of IPv4 options. */
  readonly options: number;
  readonly protocol: number;
  readonly fragment: number;
  readonly port: number;
  readonly payload: number;
}

const PLAIN: Shape = { tags: [], version: 4, options: 0, protocol: 17, fragment: 0, port: PORT, payload: 20 };

function frameOf(shape: Partial<Shape> = {}): Buffer {
  const { tags, version, options, protocol, fragment, port, payload } = { ...PLAIN, ...shape };
  const link = Buffer.alloc(14 + 4 * tags.length);
  for (const [index, tag] of tags.entries()) link.writeUInt16BE(tag, 12 + 4 * index);
  link.writeUInt16BE(version === 4 ? 0x0800 : 0x86dd, link.length - 2);
  const ip = Buffer.alloc(version === 4 ? 20 + 4 * options : 40);
  if (version === 4) {
    ip[0] = 0x45 + options;
    ip.writeUInt16BE(ip.length + 8 + payload, 2);
    ip.writeUInt16BE(fragment, 6);
    ip[9] = protocol;
  } else {
    ip[0] = 0x60;
    ip.writeUInt16BE(8 + payload, 4);
    ip[6] = protocol;
  }
  const udp = Buffer.alloc(8 + payload);
  udp.writeUInt16BE(1234, 0);
  udp.writeUInt16BE(port, 2);
  udp.writeUInt16BE(udp.length, 4);
  return Buffer.concat([link, ip, udp]);
}

/** What xdp/frame.h says, written down once more. @returns the UDP destination port, or null */
function portOf(frame: Buffer): number | null {
  // The program asks for 34 bytes at once.
  if (frame.length < 34) return null;
  let at = 12;
  for (let tags = 0; tags < 2 && [0x8100, 0x88a8].includes(frame.readUInt16BE(at)); tags++) {
    at += 4;
    if (at + 2 > frame.length) return null;
  }
  const type = frame.readUInt16BE(at);
  const ip = at + 2;
  let udp: number;
  if (type === 0x0800) {
    if (ip + 28 > frame.length) return null;
    const header = (frame[ip]! & 15) * 4;
    if (frame[ip]! >> 4 !== 4 || header < 20 || frame[ip + 9] !== 17) return null;
    if ((frame.readUInt16BE(ip + 6) & 0x3fff) !== 0) return null;
    udp = ip + header;
  } else if (type === 0x86dd) {
    if (ip + 48 > frame.length || frame[ip]! >> 4 !== 6 || frame[ip + 6] !== 17) return null;
    udp = ip + 40;
  } else {
    return null;
  }
  return udp + 8 > frame.length ? null : frame.readUInt16BE(udp + 2);
}

const shapes = fc.record<Shape>({
  tags: fc.array(fc.constantFrom(0x8100, 0x88a8), { maxLength: 3 }),
  version: fc.constantFrom<4 | 6>(4, 6),
  options: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 })),
  protocol: fc.oneof(fc.constant(17), fc.constantFrom(6, 0, 44, 255)),
  fragment: fc.oneof(fc.constantFrom(0, 0x4000, 0x2000), fc.integer({ min: 0, max: 0xffff })),
  port: fc.oneof(fc.constant(PORT), fc.integer({ min: 0, max: 0xffff })),
  payload: fc.integer({ min: 0, max: 60 }),
});

describe('the program that steers frames to sockets', () => {
  it('takes UDP to its ports over IPv4 and IPv6, with up to two VLAN tags and with IPv4 options', () => {
    const program = load([PORT, 0, 65535]);
    for (const port of [PORT, 0, 65535]) {
      expect(wants(program, frameOf({ port }))).toBe(true);
      expect(wants(program, frameOf({ port, version: 6 }))).toBe(true);
      expect(wants(program, frameOf({ port, tags: [0x8100] }))).toBe(true);
      expect(wants(program, frameOf({ port, tags: [0x88a8, 0x8100], version: 6 }))).toBe(true);
    }
    for (let options = 1; options <= 10; options++) expect(wants(program, frameOf({ options }))).toBe(true);
    expect(wants(program, frameOf({ fragment: 0x4000 }))).toBe(true);
    program.close();
  });

  it('leaves everything else to the network stack', () => {
    const program = load([PORT]);
    expect(wants(program, frameOf({ port: PORT + 1 }))).toBe(false);
    expect(wants(program, frameOf({ port: 0 }))).toBe(false);
    expect(wants(program, frameOf({ protocol: 6 }))).toBe(false);
    expect(wants(program, frameOf({ protocol: 6, version: 6 }))).toBe(false);
    expect(wants(program, frameOf({ fragment: 1 }))).toBe(false);
    expect(wants(program, frameOf({ fragment: 0x2000 }))).toBe(false);
    expect(wants(program, frameOf({ fragment: 0x2001 }))).toBe(false);
    expect(wants(program, frameOf({ tags: [0x88a8, 0x8100, 0x8100] }))).toBe(false);
    expect(wants(program, frameOf().subarray(0, 14))).toBe(false);
    expect(wants(program, frameOf().subarray(0, 41))).toBe(false);
    expect(wants(program, Buffer.alloc(60, 0xff))).toBe(false);
    program.close();
  });

  it('decides as its description says, for all sorts of frames, also damaged and cut ones', () => {
    const ports = [PORT, 1, 64, 4791];
    const program = load(ports);
    const damage = fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 2 });
    fc.assert(
      fc.property(shapes, damage, fc.option(fc.nat(120), { nil: null }), (shape, changes, length) => {
        let frame = frameOf(shape);
        for (const [at, value] of changes) frame[at % frame.length] = value;
        if (length !== null) frame = frame.subarray(0, Math.max(14, Math.min(length, frame.length)));
        const port = portOf(frame);
        expect(wants(program, frame)).toBe(port !== null && ports.includes(port));
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
    program.close();
  });

  it('takes every frame if asked for all, and none without ports', () => {
    const all = load('all');
    expect(wants(all, Buffer.alloc(60, 0xff))).toBe(true);
    expect(wants(all, frameOf({ protocol: 6 }))).toBe(true);
    expect(wants(all, frameOf().subarray(0, 14))).toBe(true);
    all.close();
    const none = load([]);
    expect(wants(none, frameOf())).toBe(false);
    expect(wants(none, frameOf({ port: 0 }))).toBe(false);
    none.close();
  });

  it('has other ports from one frame to the next', () => {
    const program = load([PORT]);
    program.map('ports').update(0, steeredPorts([53]));
    expect(wants(program, frameOf())).toBe(false);
    expect(wants(program, frameOf({ port: 53 }))).toBe(true);
    program.close();
  });
});

describe('programs', () => {
  it('say what is wrong with ports', () => {
    for (const port of [-1, 65536, 1.5, Number.NaN]) {
      expect(() => XdpProgram.steer({ interface: 'lo', ports: [port] })).toThrow(RangeError);
    }
  });

  it('name an interface that does not exist', () => {
    load([]).close();
    const steer = (): XdpProgram => XdpProgram.steer({ interface: 'no-such-if', ports: [PORT] });
    expect(steer).toThrow(expect.objectContaining({ code: 'ERR_XDP_NO_DEVICE' }));
    expect(steer).toThrow(/no-such-if/);
  });

  it('are of no use once closed, and can be closed twice', () => {
    const program = load([PORT]);
    const totals = program.map('totals');
    program.close();
    program.close();
    expect(() => program.run(frameOf())).toThrow(expect.objectContaining({ code: 'ERR_XDP_CLOSED' }));
    expect(() => totals.sum(0)).toThrow(expect.objectContaining({ code: 'ERR_XDP_CLOSED' }));
    expect(() => program.attach('lo')).toThrow(expect.objectContaining({ code: 'ERR_XDP_CLOSED' }));
  });

  it('refuse keys and values of another size, frames that are too long, and maps that they do not have', () => {
    const program = load([PORT]);
    expect(() => program.map('ports').update(0, new Uint8Array(8))).toThrow(RangeError);
    expect(() => program.map('ports').lookup(new Uint8Array(3), new Uint8Array(8200))).toThrow(RangeError);
    expect(() => program.map('nothing')).toThrow(RangeError);
    expect(() => program.run(new Uint8Array(13))).toThrow(RangeError);
    expect(() => program.run(new Uint8Array(9000))).toThrow(RangeError);
    expect(program.map('ports').lookup(1, new Uint8Array(8200))).toBe(false);
    program.close();
  });

  it('give keys of arrays in order', () => {
    const program = load([PORT]);
    const keys = [...program.map('ports').keys()];
    expect(keys).toEqual([new Uint8Array(4)]);
    program.close();
  });
});
