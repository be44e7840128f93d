import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { COMMANDS } from '../../src/commands/table.js';
import { pcap, reportFrame } from '../captures.js';
import { SWITCH } from '../p4-programs.js';
import { BIN, temporaryFolder } from '../run.js';

const files = temporaryFolder();
/** For a command to get where it is to be, and to end: a bound for machines that are busy, not a promise. */
const PATIENCE = { withinMs: 30_000, everyMs: 20 };
const AT_ONCE = 2;
/** Ended by the second of two signals: threads of the system may see them in any order. */
const EITHER = [130, 143];
/** Seconds of work after which a command does what it is for: more than loading it takes. */
const BUSY = 0.5;

/** What a process is doing. */
type State = (child: ChildProcess, words: string) => boolean;

/** Has a file or pipe open. */
const holding =
  (path: string): State =>
  ({ pid }) =>
    readdirSync(`/proc/${pid}/fd`).some((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`) === path;
      } catch {
        return false;
      }
    });

/** Seconds of processor time that a process has had: the 14th and 15th field, in hundredths. */
function processorSeconds({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Has been at work for so long. */
const busyFor =
  (seconds: number): State =>
  (child) =>
    processorSeconds(child) > seconds;

/** Has said something. */
const said =
  (text: string): State =>
  (_child, words) =>
    words.includes(text);

/** Has had nothing to do for a while: it waits. */
function waiting(): State {
  let last = Number.NaN;
  let same = 0;
  return (child) => {
    const now = processorSeconds(child);
    same = now === last && now > 0.05 ? same + 1 : 0;
    last = now;
    return same > 10;
  };
}

const INT_P4 = fileURLToPath(new URL('../../../../p4/int.p4', import.meta.url));

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly state: State;
  /** Exit codes; a signal that ended the process counts as 128 + its number. */
  readonly codes: readonly number[];
  /** Whether it takes a second signal: it waits for somebody who does not read. */
  readonly isStuck?: true;
}

/** Sends signals to a command in a state. @returns null, or what went wrong */
async function stop({ name, args, state, codes, isStuck }: Case): Promise<string | null> {
  // Its standard input stays open, and nobody reads its standard output.
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const closed = new Promise((resolve) => child.once('exit', resolve));
  try {
    await until(`${name}: getting there`, () => ended() || state(child, words), PATIENCE);
    if (ended()) return `${name}: ended by itself (${child.exitCode}): ${words}`;
    // Another one than the second: of two that are the same the system may keep one.
    if (isStuck === true) child.kill('SIGINT');
    child.kill('SIGTERM');
    await until(`${name}: ending`, ended, PATIENCE);
    const { exitCode, signalCode } = child;
    const code = exitCode ?? 128 + constants.signals[signalCode!];
    const isGivenUp = words.includes('given up');
    return codes.includes(code) && !isGivenUp ? null : `${name}: code ${code}: ${words}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

let cases: Case[] = [];

/** Takes connections, and never says anything. */
const silent: Socket[] = [];
const broker = createServer((socket) => silent.push(socket.on('error', () => {})));

afterAll(() => {
  for (const socket of silent) socket.destroy();
  broker.close();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  const rules = await files.write('rules.yaml', 'version: 1\ndefault: drop\nrules: []\n');
  const large = await files.write('large.pcap', pcap(new Array<Uint8Array>(20_000).fill(reportFrame())));
  const program = await files.write('switch.p4', SWITCH);
  const fabric = await files.write(
    'fabric.yaml',
    `version: 1\nswitches:\n  one: { program: switch.p4 }\nports:\n  'one:1': udp:127.0.0.1:0-127.0.0.1:9\n`,
  );
  await files.write(
    'topology.yaml',
    `switches: { 1: { name: leaf, ports: { 1: { to: host h } } } }\nhosts: { h: { addresses: [10.0.0.1] } }\n`,
  );
  const silentPort = (broker.address() as AddressInfo).port;
  const control = await files.write(
    'control.yaml',
    `version: 1\nsources: [{ udp: { listen: '127.0.0.1:0' } }]\ntopology: topology.yaml\nprogram: ${INT_P4}\nswitches: { leaf: { target: '127.0.0.1:${silentPort}' } }\n`,
  );
  const history = files.path('history');
  await mkdir(history);
  const pipe = (name: string): string => {
    execFileSync('mkfifo', [files.path(name)]);
    return files.path(name);
  };
  const reading = (name: string, args: (path: string) => string[]): Case => {
    const path = pipe(name.replaceAll(' ', '-'));
    // The system has the pipe open before the command knows of it.
    const codes = [0, 143];
    return { name: `${name} of a pipe that nobody writes`, args: args(path), state: holding(path), codes };
  };
  const endless = 'SELECT count(*) FROM range(10000000) a, range(10000000) b';
  const plan = ['plan', 'watts-strogatz:500000:6:0.1', '--paths', '40'];
  const simulate = ['dart', 'simulate', '--flows', '60000000', '--bytes-per-flow', '30', '--copies', '2'];
  cases = [
    reading('decode', (path) => ['decode', path]),
    reading('doctor', (path) => ['doctor', path]),
    reading('encode', (path) => ['encode', path, '-o', files.path('out.pcap')]),
    reading('detect', (path) => ['detect', path, '--rules', rules]),
    reading('knowledge', (path) => ['knowledge', path]),
    reading('overhead', (path) => [
      'overhead',
      path,
      '--topology',
      fileURLToPath(new URL('../../../../examples/data/topology.yaml', import.meta.url)),
      '--budget',
      '1%',
    ]),
    reading('flows', (path) => ['flows', path, '--rows', '64']),
    reading('topology learn', (path) => ['topology', 'learn', path]),
    reading('replay', (path) => ['replay', path, '--to', 'udp://127.0.0.1:9']),
    reading('collect', (path) => ['collect', '--pcap', path]),
    reading('p4 run', (path) => ['p4', 'run', program, '--port', `0=${path}`, '--out', files.path('ports')]),
    reading('dart receive', (path) => ['dart', 'receive', path, '--store', files.path('taken'), '--slots', '99']),
    reading('dart write', (path) => ['dart', 'write', path, '--store', files.path('store'), '--slots', '99']),
    { name: 'rules by standard input', args: ['detect', large, '--rules', '-'], state: waiting(), codes: [143] },
    { name: 'p4 play of standard input', args: ['p4', 'play', program, '-'], state: waiting(), codes: [143] },
    { name: 'plan of standard input', args: ['plan', '-', '--paths', '2'], state: waiting(), codes: [143] },
    {
      name: 'generate into a pipe that nobody reads',
      args: ['generate', '--packets', '100', '-o', pipe('generated')],
      state: waiting(),
      codes: [143],
    },
    { name: 'plan at work', args: plan, state: busyFor(BUSY), codes: [143] },
    { name: 'dart simulate at work', args: simulate, state: busyFor(BUSY), codes: [143] },
    { name: 'query at work', args: ['query', endless, '--store', history], state: busyFor(BUSY), codes: [0, 143] },
    {
      name: 'generate at work',
      args: ['generate', '--packets', '1000000000', '-o', '/dev/null'],
      state: busyFor(BUSY),
      codes: [0],
    },
    {
      name: 'replay at work',
      args: ['replay', large, '--to', 'udp://127.0.0.1:9', '--loop', '0'],
      state: busyFor(BUSY),
      // Nothing listens there, of which the system tells now and then.
      codes: [0, 3],
    },
    { name: 'decode, unread', args: ['decode', '--json', large], state: waiting(), codes: EITHER, isStuck: true },
    {
      name: 'generate, unread',
      args: ['generate', '--packets', '1000000000'],
      state: waiting(),
      codes: EITHER,
      isStuck: true,
    },
    {
      name: 'process, of a broker that does not answer',
      args: ['process', '--kafka', `127.0.0.1:${(broker.address() as AddressInfo).port}`],
      state: waiting(),
      codes: EITHER,
      isStuck: true,
    },
    {
      name: 'p4 serve',
      args: ['p4', 'serve', program, '--listen', '127.0.0.1:0', '--port', '1=udp:127.0.0.1:0-127.0.0.1:9'],
      state: said('forwarding'),
      codes: [0],
    },
    { name: 'control', args: ['control', '--config', control], state: said('controlling'), codes: [0] },
    {
      name: 'control --dry-run, of a switch that does not answer',
      args: ['control', '--config', control, '--dry-run'],
      state: waiting(),
      codes: [0, 1, 143],
    },
    { name: 'p4 fabric', args: ['p4', 'fabric', fabric], state: said('forwarding'), codes: [0] },
    {
      name: 'p4 control, of a switch that does not answer',
      args: ['p4', 'control', '--target', `127.0.0.1:${(broker.address() as AddressInfo).port}`],
      state: waiting(),
      codes: [143],
    },
    {
      name: 'dart listen',
      args: ['dart', 'listen', 'udp://127.0.0.1:0', '--store', files.path('heard'), '--slots', '99'],
      state: said('listening'),
      codes: [0],
    },
  ];
});

/** Commands that are not here, and why. */
const ELSEWHERE = new Set([
  // Needs interfaces: its own test has them.
  'bridge',
  // Nothing in them waits for long.
  'dart plan',
  'dart query',
  // These run on the thread of `p4 run` and `p4 play`, of which there are tests with programs of strangers.
  'p4 check',
  'p4 info',
  'p4 stf',
  'p4 trace',
]);

describe('a signal', () => {
  test('is sent to every command there is', () => {
    const sent = new Set(cases.flatMap(({ args: [first = '', second = ''] }) => [first, `${first} ${second}`]));
    const nameOf = (usage: string): string => usage.split(' ')[0]!;
    const all = COMMANDS.flatMap((each) =>
      'commands' in each ? each.commands.map(({ usage }) => `${each.usage} ${nameOf(usage)}`) : [nameOf(each.usage)],
    );
    expect(all.filter((name) => !sent.has(name) && !ELSEWHERE.has(name))).toEqual([]);
  });

  test('ends every command, whatever it is doing', async () => {
    const left = [...cases];
    const failures: string[] = [];
    const next = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const failure = await stop(one);
        if (failure !== null) failures.push(failure);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    expect(failures).toEqual([]);
  }, 300_000);

  test('ends a process of which a thread waits for a pipe: when its time is over, or at the second one', async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('stopping.program.ts', import.meta.url))],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
    });
    const program = await files.write('stopping.mjs', outputFiles[0]!.contents);
    const pipe = files.path('waited-for');
    execFileSync('mkfifo', [pipe]);
    for (const [limitMs, signals] of [
      ['200', ['SIGINT']],
      ['600000', ['SIGINT', 'SIGTERM']],
    ] as const) {
      const child = spawn(process.execPath, [program, pipe, limitMs], { stdio: ['ignore', 'ignore', 'pipe'] });
      let words = '';
      child.stderr.on('data', (chunk: Buffer) => {
        words += chunk.toString();
      });
      await until('a program that waits', () => words.includes('waiting'), PATIENCE);
      for (const signal of signals) {
        child.kill(signal);
        await until('the first signal', () => words.includes('asked by SIGINT'), PATIENCE);
      }
      await until('the end', () => child.exitCode !== null || child.signalCode !== null, PATIENCE);
      expect([child.exitCode, child.signalCode]).toEqual([null, signals.at(-1)]);
      if (signals.length === 1) expect(words).toContain('not ended 0.2 s after the signal: given up');
    }
  });
});
