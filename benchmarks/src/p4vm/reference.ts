/** simple_switch as a contender, if the environment says where it is. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodePcapHeader, readCapture } from '@int/pcap';
import { COLLECTOR, IN, OUT } from './cases.js';
import { onOneCore } from './one-core.js';

/** Seconds that it waits with its packets: commands are given meanwhile. On a busy machine they take longer. */
let wait = 4;
const LONGEST_WAIT = 64;
/** No drops. */
const QUEUE_DEPTH = 1_000_000;
const TICKS = 100;

export interface Reference {
  readonly switchPath: string;
  readonly commandLine: string;
  readonly compiler: readonly string[];
}

/** What INT_SIMPLE_SWITCH and INT_P4C name; undefined if they are not given. */
export function findReference(): Reference | undefined {
  const { INT_SIMPLE_SWITCH: switchPath, INT_P4C: compiler } = process.env;
  if (switchPath === undefined || compiler === undefined) return undefined;
  const commandLine = join(dirname(switchPath), 'simple_switch_CLI');
  for (const path of [switchPath, commandLine]) if (!existsSync(path)) throw new Error(`there is no ${path}`);
  return { switchPath, commandLine, compiler: compiler.split(/\s+/) };
}

export function versionOf({ switchPath }: Reference): string {
  return spawnSync(switchPath, ['--version'], { encoding: 'utf8' }).stdout.trim().split('\n')[0] ?? '';
}

/** Compiles a program. @returns path of the JSON */
export function compile({ compiler }: Reference, program: string, folder: string): string {
  const [command, ...args] = compiler;
  const json = join(folder, 'program.json');
  execFileSync(command!, [...args, '-o', json, program], { stdio: ['ignore', 'ignore', 'pipe'] });
  return json;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Processor time of a process so far, seconds: user and system. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function giveCommands({ commandLine }: Reference, port: number, commands: readonly string[]): void {
  const input = [`set_queue_depth ${QUEUE_DEPTH}`, ...commands, ''].join('\n');
  for (let tries = 0; ; tries++) {
    const { stdout, stderr, status } = spawnSync(commandLine, ['--thrift-port', String(port)], {
      input,
      encoding: 'utf8',
    });
    const wrong = stdout.split('\n').filter((line) => /error|invalid|unknown/i.test(line));
    if (status === 0 && wrong.length === 0) return;
    if (tries === 20 || wrong.length > 0) throw new Error(`simple_switch_CLI: ${[...wrong, stderr].join('\n')}`);
  }
}

async function untilIdle(pid: number): Promise<number> {
  let last = processorTime(pid);
  const idle = last;
  while (last - idle < 0.05) {
    await sleep(50);
    last = processorTime(pid);
  }
  for (let still = 0; still < 10; ) {
    await sleep(100);
    const now = processorTime(pid);
    still = now === last ? still + 1 : 0;
    last = now;
  }
  return last - idle;
}

export interface ReferenceRun {
  /** Nanoseconds a packet that came in: the lesser of elapsed and processor time. */
  readonly ns: number;
  /** Frames by the port they left by. */
  readonly outputs: ReadonlyMap<number, readonly Uint8Array[]>;
}

/** One run over a capture; the switch is started for it, and its start does not count. */
export async function runReference(
  reference: Reference,
  json: string,
  commands: readonly string[],
  input: string,
  packets: number,
  folder: string,
): Promise<ReferenceRun> {
  for (;;) {
    const run = await tryReference(reference, json, commands, input, packets, folder);
    if (run !== undefined) return run;
    if (wait >= LONGEST_WAIT) throw new Error(`the commands took longer than ${wait} s`);
    wait *= 2;
  }
}

/** @returns undefined if packets came before all commands had been given */
async function tryReference(
  reference: Reference,
  json: string,
  commands: readonly string[],
  input: string,
  packets: number,
  folder: string,
): Promise<ReferenceRun | undefined> {
  const directory = join(folder, 'reference');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const ports = [IN, OUT, COLLECTOR];
  for (const port of ports) {
    writeFileSync(join(directory, `p${port}_in.pcap`), port === IN ? readFileSync(input) : encodePcapHeader());
  }
  const thrift = await freePort();
  const [command, ...args] = onOneCore([
    reference.switchPath,
    '--use-files',
    String(wait),
    '--thrift-port',
    String(thrift),
    ...ports.flatMap((port) => ['-i', `${port}@p${port}`]),
    json,
  ]);
  const child: ChildProcess = spawn(command!, args, { cwd: directory, stdio: 'ignore' });
  const begun = performance.now();
  try {
    giveCommands(reference, thrift, commands);
    if (performance.now() - begun > wait * 1000) return undefined;
    const used = await untilIdle(child.pid!);
    // Captures are whole when it has ended.
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
    const outputs = new Map<number, readonly Uint8Array[]>();
    /** Microseconds. */
    const times: number[] = [];
    for (const name of readdirSync(directory)) {
      const port = /^p(\d+)_out\.pcap$/.exec(name)?.[1];
      if (port === undefined) continue;
      const frames: Uint8Array[] = [];
      const bytes = readFileSync(join(directory, name));
      if (bytes.length === 0) continue;
      for (const { data, timeNs } of readCapture(bytes)) {
        frames.push(data);
        times.push(Number(timeNs / 1000n));
      }
      if (frames.length > 0) outputs.set(Number(port), frames);
    }
    const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
    const last = times.reduce((most, time) => Math.max(most, time), 0);
    return { ns: Math.min((last - first) * 1e3, used * 1e9) / packets, outputs };
  } finally {
    child.kill('SIGKILL');
  }
}
