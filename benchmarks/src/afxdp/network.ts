/** A virtual cable in a network namespace of its own, and what receiving from it costs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Destination } from './template.js';

/** Senders keep to the first processor, everything that receives to the last one. */
export const SEND_CORE = 0;
export const RECEIVE_CORE = availableParallelism() - 1;

/** The number tells the kernel's threads of this cable from those of others: they show in all namespaces. */
const IN = `r${process.pid}`;
const OUT = `t${process.pid}`;
const INSIDE = '--inside-namespace';

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Why this cannot be measured here, in a line; undefined if it can. */
function missing(): string | undefined {
  if (process.platform !== 'linux') return 'AF_XDP is a part of Linux';
  if (process.getuid?.() !== 0) return 'not root: virtual cables and eBPF programs need it';
  if (availableParallelism() < 2) return 'one processor only: sender and receiver need one each';
  for (const tool of ['unshare', 'ip', 'ethtool', 'taskset', 'mount']) {
    if (spawnSync(tool, ['--version']).error !== undefined) return `${tool} is not installed (npm run setup:system)`;
  }
  const tried = spawnSync('unshare', ['--net', '--mount', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no network namespace: ${tried.stderr.trim()}`;
}

/**
 * Runs the program that calls it once more, in a network namespace that ends with it.
 * @returns what is missing for that, or the exit status of the program
 */
export function enterNamespace(program: string, args: readonly string[]): { missing: string } | { status: number } {
  const reason = missing();
  if (reason !== undefined) return { missing: reason };
  const command = [process.execPath, program, ...args, INSIDE];
  const { status } = spawnSync('unshare', ['--net', '--mount', ...command], { stdio: 'inherit' });
  return { status: status ?? 1 };
}

/** Whether this is the program within the namespace; its arguments without the mark. */
export function insideNamespace(args: readonly string[]): { isInside: boolean; args: string[] } {
  return { isInside: args.includes(INSIDE), args: args.filter((arg) => arg !== INSIDE) };
}

/** Nanoseconds that a thread has run (Linux, Documentation/scheduler/sched-stats.rst). */
function ranNs(schedstat: string): number {
  return Number(readFileSync(schedstat, 'latin1').split(' ')[0]);
}

/** Nanoseconds that all threads of a process have run. */
export function processNs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ranNs(`/proc/${pid}/task/${task}/schedstat`), 0);
}

/**
 * A veth pair: frames sent at one end are received at the other by a kernel thread (threaded NAPI) on the receivers'
 * processor, whose time is that of the kernel's share: driver, XDP program, copying, or the IP stack up to the socket.
 */
export class Cable implements Destination {
  readonly interface = IN;
  readonly sendInterface = OUT;
  readonly mac = '02:00:00:00:02:02';
  readonly address = '10.9.0.2';
  readonly sender = '10.9.0.1';

  /** @throws Error if a command fails */
  constructor() {
    // The namespace's own view of /sys, in a mount namespace of its own.
    run('mount', '-t', 'sysfs', 'sysfs', '/sys');
    writeFileSync('/proc/sys/net/ipv6/conf/default/disable_ipv6', '1');
    // Reports come from an address that nothing routes to.
    for (const name of ['all', 'default']) writeFileSync(`/proc/sys/net/ipv4/conf/${name}/rp_filter`, '0');
    run('ip', 'link', 'add', OUT, 'type', 'veth', 'peer', 'name', IN, 'address', this.mac);
    run('ip', 'address', 'add', `${this.address}/24`, 'dev', IN);
    // Makes NAPI exist also without an XDP program, which live frames need.
    run('ethtool', '-K', IN, 'gro', 'on');
    run('ip', 'link', 'set', OUT, 'up');
    run('ip', 'link', 'set', IN, 'up');
    writeFileSync(`/sys/class/net/${IN}/threaded`, '1');
  }

  /** The kernel threads that receive. */
  #threads: readonly number[] = [];

  /**
   * Finds the kernel threads and moves them to the receivers' processor. A program that is attached may start them
   * anew, so this is to be called once the receiver is ready.
   */
  async settle(): Promise<void> {
    for (let tries = 0; this.#threads.length === 0 || tries === 0; tries++) {
      if (tries === 50) throw new Error(`the kernel's thread for ${IN} was not found`);
      if (tries > 0) await sleep(10);
      this.#threads = napiThreads();
    }
    for (const pid of this.#threads) run('taskset', '-p', '-c', String(RECEIVE_CORE), String(pid));
  }

  /** Nanoseconds that the kernel's threads have received for. */
  kernelNs(): number {
    return this.#threads.reduce((sum, pid) => sum + ranNs(`/proc/${pid}/schedstat`), 0);
  }

  /** Frames that have reached the receiving end. */
  arrived(): number {
    return Number(readFileSync(`/sys/class/net/${IN}/statistics/rx_packets`, 'latin1'));
  }
}

function napiThreads(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith(`napi/${IN}-`);
      } catch {
        return false;
      }
    });
}
