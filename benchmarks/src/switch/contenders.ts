/** What forwards from one cable to the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RECEIVE_CORE } from '../afxdp/network.js';
import { caseOf, IN, OUT } from '../p4vm/cases.js';
import { compile, findReference } from '../p4vm/reference.js';
import { run, type Wires } from './wires.js';

/** Bundles lie in benchmarks/dist. */
const INT = fileURLToPath(new URL('../../packages/cli/bin/int.js', import.meta.url));
const PATIENCE_MS = 60_000;

/** A contender at work. */
export interface Forwarding {
  /** Its process; null: the kernel's thread does it all. */
  readonly pid: number | null;
  /** Frames that find room while it is stopped. */
  readonly room: number;
  /** Ends it. @returns frames that it has dropped, by reason; null: it does not say */
  stop(): Promise<Readonly<Record<string, number>> | null>;
}

export interface Contender {
  readonly name: string;
  readonly about: string;
  readonly frames: () => readonly Uint8Array[];
  start(wires: Wires, folder: string): Promise<Forwarding>;
}

function onCore(command: readonly string[]): ChildProcess {
  return spawn('taskset', ['-c', String(RECEIVE_CORE), ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** `int p4 serve` with ports of a kind. */
function ours(name: string, about: string, program: string, kind: 'xdp' | 'packet'): Contender {
  const { frames, program: path, commands } = caseOf(program);
  return {
    name,
    about,
    frames,
    async start(wires, folder) {
      const detach = kind === 'xdp' ? (): void => {} : wires.throughThread();
      const file = join(folder, 'commands.txt');
      writeFileSync(file, `${commands.join('\n')}\n`);
      const ports = ['--port', `${IN}=${kind}:${wires.into}`, '--port', `${OUT}=${kind}:${wires.out}`];
      const child = onCore([process.execPath, INT, 'p4', 'serve', path, '--commands', file, ...ports, '--json']);
      let output = '';
      let errors = '';
      child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-100_000);
      });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        errors += text;
      });
      const end = performance.now() + PATIENCE_MS;
      while (!errors.includes('forwarding')) {
        if (child.exitCode !== null || performance.now() > end) throw new Error(`int p4 serve: ${errors}`);
        await sleep(20);
      }
      return {
        pid: child.pid!,
        room: kind === 'xdp' ? 16_000 : 4000,
        async stop() {
          const ended = once(child, 'close');
          child.kill('SIGINT');
          await ended;
          detach();
          const total = JSON.parse(output.trim().split('\n').at(-1)!) as {
            dropped: Record<string, number>;
            ports: Record<string, { dropped: Record<string, number> }>;
          };
          const all: Record<string, number> = {};
          for (const dropped of [total.dropped, ...Object.values(total.ports).map((port) => port.dropped)]) {
            for (const [reason, count] of Object.entries(dropped))
              if (count > 0) all[reason] = (all[reason] ?? 0) + count;
          }
          return all;
        },
      };
    },
  };
}

/** The kernel's bridge: its time is that of the thread that receives. */
const BRIDGE: Contender = {
  name: 'bridge',
  about: "the kernel's bridge between the same interfaces",
  frames: caseOf('router').frames,
  async start(wires) {
    const { into, out } = wires;
    const detach = wires.throughThread();
    const name = `br${into.slice(2)}`;
    run('ip', 'link', 'add', name, 'type', 'bridge', 'mcast_snooping', '0');
    for (const port of [into, out]) run('ip', 'link', 'set', port, 'master', name);
    run('ip', 'link', 'set', name, 'up');
    return {
      pid: null,
      room: 16_000,
      async stop() {
        run('ip', 'link', 'delete', name);
        detach();
        return null;
      },
    };
  },
};

/** simple_switch with the router, if the environment says where it is. */
function reference(): Contender[] {
  const found = findReference();
  if (found === undefined) return [];
  const { frames, program, commands } = caseOf('router');
  return [
    {
      name: 'simple_switch',
      about: 'the reference switch with the router',
      frames,
      async start(wires, folder) {
        const { into, out } = wires;
        const detach = wires.throughThread();
        const json = compile(found, program, folder);
        const child = onCore([
          found.switchPath,
          '-i',
          `${IN}@${into}`,
          '-i',
          `${OUT}@${out}`,
          '--log-level',
          'off',
          json,
        ]);
        await sleep(3000);
        const control = spawn(found.commandLine, [], { stdio: ['pipe', 'ignore', 'ignore'] });
        control.stdin!.end(`${commands.join('\n')}\n`);
        await once(control, 'close');
        return {
          pid: child.pid!,
          room: 200,
          async stop() {
            const ended = once(child, 'close');
            child.kill('SIGKILL');
            await ended;
            detach();
            return null;
          },
        };
      },
    },
  ];
}

export const CONTENDERS: readonly Contender[] = [
  ours('router', 'a router of one table, AF_XDP', 'router', 'xdp'),
  ours('transit', 'int.p4 as transit: 3 hops of 4 words, a fourth is pushed; AF_XDP', 'transit', 'xdp'),
  ours('router on AF_PACKET', 'the router, AF_PACKET', 'router', 'packet'),
  BRIDGE,
  ...reference(),
];
