/**
 * The programs on stock p4c and simple_switch beside this machine: the same commands, the same packets, in mixed order, since
 * what earlier packets leave behind is where the two could differ. Bytes in which the time of day shows are left out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath } from '@int/p4';
import { createSwitch, type IrProgram, VirtualClock } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { frameOf, packetShape } from '../packets.js';
import { type PortFrame, StockPorts } from './stock-ports.js';
import { compileStock, type StockTools, stockTools } from './stock-tools.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_123);
const PACKETS = process.env.INT_LONG === '1' ? 2000 : 200;
const PORTS = [0, 1, 2, 3, 4, 5, 6, 7];
const IN = 1;
const QUIET_MS = 60;
const THRIFT = '9090';
const START_MS = 60_000;
/** A frame that AF_PACKET takes. */
const SHORTEST = 14;

type Name = Parameters<typeof programPath>[0];

const CASES: readonly (readonly [program: Name, commands: string])[] = [
  ['int', 'int/commands/source.txt'],
  ['int', 'int/commands/transit.txt'],
  ['int', 'int/commands/sink.txt'],
  ['dart', 'dart/commands/hashes.txt'],
  ['flowcache', 'flowcache/commands/sink.txt'],
  ['intmon', 'intmon/commands/source.txt'],
  ['intmon', 'intmon/commands/transit.txt'],
  ['intmon', 'intmon/commands/sink.txt'],
  ['gpint', 'gpint/commands/switch.txt'],
  ['gpint', 'gpint/commands/forwarder.txt'],
];

function commandsOf(file: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** What the machine makes of packets that come at some time of day; the clock goes on by as much with each. */
function onMachine(
  program: IrProgram,
  commands: readonly string[],
  frames: readonly Uint8Array[],
  startUs: number,
): PortFrame[][] {
  const clock = new VirtualClock();
  const target = createSwitch(program, { clock });
  for (const command of commands) {
    const { error } = target.command(command);
    if (error !== undefined) throw new Error(`${command}: ${error.message}`);
  }
  return frames.map((frame, at) => {
    clock.moveTo(startUs + at * (QUIET_MS * 1000 + (startUs % 977)));
    const outputs = target.process(IN, frame).filter(({ port }) => PORTS.includes(port));
    const sent = outputs.map(({ port, frame: bytes }) => ({ port, hex: Buffer.from(bytes).toString('hex') }));
    return sent.sort((a, b) => a.port - b.port);
  });
}

/** Packets without INT, with it, with other shims behind it, cut and changed ones; all mixed. */
function mixedFrames(): Uint8Array[] {
  const near = packetShape([]).map((shape) => {
    const addresses = shape.addresses.slice();
    addresses.set([10, 0, 1, 1, 10, 0, 2, 2]);
    return frameOf({ ...shape, addresses });
  });
  const special = fc.tuple(near, fc.constantFrom(5000, 4096, 5017, 5018, 54_321)).map(([frame, port]) => {
    const at = 14 + (frame[14]! & 15) * 4 + 2;
    if (frame[12] === 8 && frame.length > at + 2) new DataView(frame.buffer).setUint16(at, port);
    return frame;
  });
  const plain = fc.sample(fc.oneof(near, near, special), { seed: SEED, numRuns: PACKETS });
  // What a source makes of them has INT in it.
  const source = onMachine(loadProgram(programPath('int')), commandsOf('int/commands/source.txt'), plain, 1);
  const marked = source.flat().map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex')));
  const all = [...plain, ...marked];
  const changed = fc
    .tuple(fc.constantFrom(...all), fc.nat(), fc.nat(255), fc.boolean())
    .map(([frame, at, value, isCut]) => {
      const place = SHORTEST + (at % Math.max(1, frame.length - SHORTEST));
      const copy = frame.slice();
      copy[place] = value;
      return isCut ? copy.subarray(0, Math.max(SHORTEST, place)) : copy;
    });
  const wrong = fc.sample(changed, { seed: SEED, numRuns: PACKETS });
  const [mixed = []] = fc.sample(fc.shuffledSubarray([...all, ...wrong], { minLength: PACKETS, maxLength: PACKETS }), {
    seed: SEED,
    numRuns: 1,
  });
  return mixed.filter(({ length }) => length >= SHORTEST);
}

/** Frames without the bytes that another time of day has changed. */
function timeless(frames: readonly PortFrame[], one: readonly PortFrame[], other: readonly PortFrame[]): string[] {
  return frames.map(({ port, hex }, at) => {
    const [early = '', late = ''] = [one[at]?.hex, other[at]?.hex];
    const shown = [...hex].map((digit, place) => (early[place] === late[place] ? digit : '.'));
    return `${port} ${shown.join('')}`;
  });
}

async function startedSwitch(tools: StockTools, json: string, commands: readonly string[]): Promise<StockPorts> {
  const interfaces = PORTS.flatMap((port) => ['-i', `${port}@sw${port}`]);
  const command = [tools.simpleSwitch, ...interfaces, '--thrift-port', THRIFT, json];
  const ports = new StockPorts(tools.python, PORTS, command, QUIET_MS);
  const give = (lines: readonly string[]) =>
    ports.run([tools.commandLine, '--thrift-port', THRIFT], `${lines.join('\n')}\n`);
  try {
    await until('simple_switch takes commands', async () => (await give(['show_tables'])).status === 0, {
      withinMs: START_MS,
    });
    const { said } = await give(commands);
    expect(said.filter((line) => /error|invalid|unknown/i.test(line))).toEqual([]);
    return ports;
  } catch (error) {
    await ports.close();
    throw error;
  }
}

test('the packets are those that the programs are about, and but for the time of day they lead to the same', () => {
  const program = loadProgram(programPath('int'));
  const commands = commandsOf('int/commands/transit.txt');
  const frames = mixedFrames();
  expect(frames.length).toBe(PACKETS);
  const one = onMachine(program, commands, frames, 1_000_000);
  const other = onMachine(program, commands, frames, 77_777_777);
  expect(other.map((each) => each.map(({ port, hex }) => [port, hex.length]))).toEqual(
    one.map((each) => each.map(({ port, hex }) => [port, hex.length])),
  );
  // Some are forwarded as they are, and some leave longer, with this switch's metadata.
  const longer = one.filter(([out], at) => out !== undefined && out.hex.length > 2 * frames[at]!.length).length;
  expect(longer).toBeGreaterThan(PACKETS / 20);
  expect(one.filter((each) => each.length > 0).length - longer).toBeGreaterThan(PACKETS / 20);
});

test.each(CASES)(
  '%s.p4 with %s sends what simple_switch sends, packet for packet',
  async (name, file) => {
    const tools = stockTools();
    const folder = mkdtempSync(join(tmpdir(), 'int-stock-'));
    const commands = commandsOf(file);
    const frames = mixedFrames();
    const program = loadProgram(programPath(name));
    const one = onMachine(program, commands, frames, 1_000_000);
    const other = onMachine(program, commands, frames, 77_777_777);
    try {
      const ports = await startedSwitch(tools, compileStock(tools, programPath(name), folder), commands);
      try {
        for (const [at, frame] of frames.entries()) {
          const stock = await ports.send(IN, frame);
          const context = `packet ${at}: ${Buffer.from(frame).toString('hex')}`;
          const [early = [], late = []] = [one[at], other[at]];
          expect(timeless(stock, early, late), context).toEqual(timeless(early, early, late));
        }
      } finally {
        await ports.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  600_000,
);
