/** Two virtual cables in a network namespace of its own: frames come in by one, and leave by the other. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { XdpProgram } from '@int/afxdp';
import { RECEIVE_CORE } from '../afxdp/network.js';

const UNIQUE = process.pid % 100_000;

export function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
}

/** Nanoseconds that a thread has run. */
function ranNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]);
}

export class Wires {
  /** Frames are sent at `source`; the switch is at `into` and `out`; `sink` is where they end. */
  readonly source = `va${UNIQUE}`;
  readonly into = `sa${UNIQUE}`;
  readonly out = `sb${UNIQUE}`;
  readonly sink = `vb${UNIQUE}`;
  #threads: readonly number[] = [];

  /** @throws Error if a command fails */
  constructor() {
    // The namespace's own view of /sys, in a mount namespace of its own.
    run('mount', '-t', 'sysfs', 'sysfs', '/sys');
    for (const name of ['all', 'default']) writeFileSync(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`, '1');
    run('ip', 'link', 'set', 'lo', 'up');
    for (const [near, far] of [
      [this.source, this.into],
      [this.sink, this.out],
    ] as const) {
      run('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far);
      // NAPI exists also without an XDP program then.
      run('ethtool', '-K', far, 'gro', 'on');
      for (const name of [near, far]) run('ip', 'link', 'set', name, 'up');
    }
    writeFileSync(`/sys/class/net/${this.into}/threaded`, '1');
  }

  /** Finds the kernel's thread that receives for the switch, and moves it to the switch's processor. */
  async settle(): Promise<void> {
    this.#threads = [];
    for (let tries = 0; this.#threads.length === 0; tries++) {
      if (tries === 50) throw new Error(`the kernel's thread for ${this.into} was not found`);
      if (tries > 0) await sleep(10);
      this.#threads = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .filter((pid) => {
          try {
            return readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith(`napi/${this.into}-`);
          } catch {
            return false;
          }
        });
    }
    for (const pid of this.#threads) run('taskset', '-p', '-c', String(RECEIVE_CORE), String(pid));
  }

  /**
   * Has frames for the switch come by the kernel's thread, where no program of the switch's own does that: by a program
   * that passes all on. Otherwise the processor that sends would do the kernel's part.
   * @returns what ends it
   */
  throughThread(): () => void {
    const program = XdpProgram.steer({ interface: this.into, mode: 'driver', ports: [] });
    return () => program.close();
  }

  /** Nanoseconds that the kernel's thread has run. */
  kernelNs(): number {
    return this.#threads.reduce((sum, pid) => sum + ranNs(pid), 0);
  }

  /** Frames that have come to the end. */
  arrived(): number {
    return Number(readFileSync(`/sys/class/net/${this.sink}/statistics/rx_packets`, 'latin1'));
  }

  /** Frames that the cable to the switch has lost: its ring was full, or what the switch had attached had no room. */
  cableDrops(): number {
    const counters = run('ethtool', '-S', this.into);
    return [...counters.matchAll(/rx_queue_\d+_drops: (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  }
}
