import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { limit, requires } from './requires.js';

/** How a pair of interfaces is made. */
export interface PairOptions {
  /** Bytes behind the Ethernet header. Default 1500. */
  readonly mtu?: number;
  /** Receive and transmit queues of both ends. Default 1. */
  readonly queues?: number;
  /** Both ends in one namespace, so that one process reaches both; the left end then has no address. Default false. */
  readonly together?: boolean;
  /** IPv6 addresses, and with them a few multicast frames that nobody has asked for. Default false. */
  readonly ipv6?: boolean;
  /** The left end is where the test is, with addresses that nothing else there has. Default false. */
  readonly outside?: boolean;
}

/** One end of the pair. */
export interface End {
  /** Empty: that of the test. */
  readonly namespace: string;
  readonly interface: string;
  readonly mac: string;
  readonly ipv4: string;
  readonly ipv6: string;
}

/** What the kernel counts for an interface, by the names in `/sys/class/net/NAME/statistics`. */
export type Counters = Readonly<Record<'rx_packets' | 'rx_dropped' | 'tx_packets' | 'tx_dropped', number>>;

/** The kernel or the rights do not allow what a pair needs. */
export class PairRefused extends Error {}

const PREFIX = 'int-xdp-';
/** Networks of 8 addresses in 198.18.0.0/15, which is for measurements (RFC 2544). */
const OUTSIDE_NETWORKS = 2 ** 14;
const IP = 'ip';
const alive = new Set<string>();
let isWatching = false;

/**
 * Two interfaces joined by a virtual cable, in network namespaces of their own: nothing outside is touched, nothing from
 * outside arrives, unless one end is to be there. Neighbours are written down, so that no frame is sent but those the test sends.
 */
export class VethPair {
  /** Where frames come from. */
  readonly left: End;
  /** Where the socket under test is. */
  readonly right: End;
  readonly #options: Required<PairOptions>;

  /**
   * Makes a pair. Call it inside a test: without the `ip` command, or the right to make namespaces, the test is skipped.
   *
   * @throws Error with what `ip` says
   */
  static make(options: PairOptions = {}): VethPair {
    requires('ip', 'npm run setup:system');
    try {
      return new VethPair(options);
    } catch (error) {
      if (error instanceof PairRefused) limit(error.message);
      throw error;
    }
  }

  /** Makes a pair, inside a test or not. @throws PairRefused, or Error with what `ip` says */
  constructor({ mtu = 1500, queues = 1, together = false, ipv6 = false, outside = false }: PairOptions = {}) {
    this.#options = { mtu, queues, together, ipv6, outside };
    watch();
    const unique = randomBytes(4).toString('hex');
    const stem = `${PREFIX}${process.pid}-${unique}`;
    const names = together ? [stem, stem] : [outside ? '' : `${stem}-l`, `${stem}-r`];
    const network = outside ? 8 * randomInt(OUTSIDE_NETWORKS) : 0;
    const subnet = outside ? `198.${18 + (network >> 16)}.${(network >> 8) & 255}.` : '10.77.0.';
    const end = (number: number): End => ({
      namespace: names[number]!,
      interface: number === 1 ? 'right0' : outside ? `int-${unique}` : 'left0',
      mac: `02:00:00:00:00:0${number + 1}`,
      ipv4: `${subnet}${(network & 255) + number + 1}`,
      ipv6: `fd77::${number + 1}`,
    });
    this.left = end(0);
    this.right = end(1);
    try {
      for (const name of new Set(names)) if (name !== '') addNamespace(name, ipv6);
      this.makeLink();
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Makes the interfaces: again, after one was removed and the other one with it. */
  makeLink(): void {
    const { ipv6, mtu, queues, together } = this.#options;
    const pair = (which: End): string => `${which.interface} address ${which.mac} mtu ${mtu}`;
    const many = `numrxqueues ${queues} numtxqueues ${queues}`;
    this.#batch(this.left, [
      `link add ${pair(this.left)} ${many} type veth peer name ${pair(this.right)} ${many} netns ${this.right.namespace}`,
    ]);
    this.#configure(this.left, this.right, !together, ipv6);
    this.#configure(this.right, this.left, true, ipv6);
  }

  /** Sets the right end up or down. */
  setRight(state: 'up' | 'down'): void {
    this.ip(this.right, 'link', 'set', this.right.interface, state);
  }

  /** Removes the right end, and so the left one. */
  removeLink(): void {
    this.ip(this.right, 'link', 'delete', this.right.interface);
  }

  #configure(here: End, there: End, hasAddress: boolean, ipv6: boolean): void {
    const name = here.interface;
    const lines = here.namespace === '' ? [] : ['link set lo up'];
    if (hasAddress) {
      lines.push(`address add ${here.ipv4}/29 dev ${name}`);
      if (ipv6) lines.push(`address add ${here.ipv6}/64 dev ${name} nodad`);
    }
    lines.push(`link set ${name} up`);
    if (hasAddress) {
      lines.push(`neighbour replace ${there.ipv4} lladdr ${there.mac} dev ${name} nud permanent`);
      if (ipv6) lines.push(`neighbour replace ${there.ipv6} lladdr ${there.mac} dev ${name} nud permanent`);
    }
    this.#batch(here, lines);
  }

  #batch(end: End, lines: readonly string[]): void {
    const { status, stderr } = spawnSync(IP, [...within(end), '-batch', '-'], {
      input: `${lines.join('\n')}\n`,
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (status === 0) return;
    if (/not permitted|denied/i.test(stderr)) {
      throw new PairRefused(`network interfaces cannot be made here (ip: ${stderr.split('\n')[0]})`);
    }
    if (/Unknown device type|not supported/i.test(stderr)) {
      throw new PairRefused(`this kernel has no veth interfaces (${stderr.split('\n')[0]})`);
    }
    throw new Error(`ip -batch: ${stderr}${lines.join('\n')}`);
  }

  /** Runs `ip` with these arguments in an end's namespace. @returns what it prints @throws Error with what it says */
  ip(end: End, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(IP, [...within(end), ...args], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Reads a text file as a process in the end's namespace sees it. */
  read(end: End, path: string): string {
    const args = ['netns', 'exec', end.namespace, 'cat', path];
    const { status, stdout, stderr } = spawnSync(IP, args, { encoding: 'utf8', timeout: 30_000 });
    if (status !== 0) throw new Error(`cat ${path}: ${stderr}`);
    return stdout;
  }

  /** What the interface has counted so far. */
  counters(end: End): Counters {
    const [link] = JSON.parse(this.ip(end, '-j', '-s', 'link', 'show', 'dev', end.interface)) as {
      stats64: Record<'rx' | 'tx', { packets: number; dropped: number }>;
    }[];
    const { rx, tx } = link!.stats64;
    return {
      rx_packets: rx.packets,
      rx_dropped: rx.dropped,
      tx_packets: tx.packets,
      tx_dropped: tx.dropped,
    };
  }

  /** The XDP program that is attached to the interface: its id, or null. */
  attached(end: End): number | null {
    const [link] = JSON.parse(this.ip(end, '-j', '-d', 'link', 'show', 'dev', end.interface)) as {
      xdp?: { prog?: { id: number }; attached?: readonly { prog: { id: number } }[] };
    }[];
    const xdp = link!.xdp;
    return xdp?.prog?.id ?? xdp?.attached?.[0]?.prog.id ?? null;
  }

  /** Removes the namespaces and the interfaces in them. Does nothing the second time. */
  remove(): void {
    for (const name of [this.left.namespace, this.right.namespace]) removeNamespace(name);
  }
}

/** What has `ip` work where an end is. */
function within({ namespace }: End): string[] {
  return namespace === '' ? [] : ['-n', namespace];
}

/** A name for a namespace of this process. */
export function uniqueName(label: string): string {
  return `${PREFIX}${process.pid}-${randomBytes(4).toString('hex')}-${label}`;
}

/**
 * Makes a network namespace, which goes when it is removed, or with this process.
 *
 * @param name unique, such as from `uniqueName`
 * @throws PairRefused
 */
export function addNamespace(name: string, ipv6 = false): void {
  watch();
  const { error, status, stderr } = spawnSync(IP, ['netns', 'add', name], { encoding: 'utf8', timeout: 30_000 });
  if (error !== undefined) throw new PairRefused(`network namespaces cannot be made here (${error.message})`);
  if (status !== 0) {
    if (/not permitted|denied|not supported|Invalid argument/i.test(stderr)) {
      throw new PairRefused(`network namespaces are refused here (ip netns add: ${stderr.split('\n')[0]})`);
    }
    throw new Error(`ip netns add: ${stderr}`);
  }
  alive.add(name);
  const settings = ipv6
    ? ['accept_dad 0', 'router_solicitations 0', 'autoconf 0', 'addr_gen_mode 1', 'mldv2_unsolicited_report_interval 1']
    : ['disable_ipv6 1'];
  const script = settings.map((setting) => {
    const [key, value] = setting.split(' ');
    return `for all in all default; do echo ${value} > /proc/sys/net/ipv6/conf/$all/${key}; done`;
  });
  // A kernel without IPv6 has none of these, and needs none.
  spawnSync(IP, ['netns', 'exec', name, 'sh', '-c', `{ ${script.join('\n')}\n} 2>/dev/null`], {
    timeout: 30_000,
  });
}

/** Removes a namespace and the interfaces in it. Does nothing the second time. */
export function removeNamespace(name: string): void {
  if (alive.delete(name)) spawnSync(IP, ['netns', 'delete', name], { timeout: 30_000 });
}

/** Removes what this process leaves behind when it ends, and once what processes that are gone have left. */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.once('exit', () => {
    for (const name of [...alive]) removeNamespace(name);
  });
  const { stdout } = spawnSync(IP, ['netns', 'list'], { encoding: 'utf8', timeout: 30_000 });
  for (const [, name, pid] of (stdout ?? '').matchAll(new RegExp(`^(${PREFIX}(\\d+)-\\S+)`, 'gm'))) {
    if (isRunning(Number(pid))) continue;
    alive.add(name!);
    removeNamespace(name!);
  }
}

function isRunning(pid: number): boolean {
  try {
    readFileSync(`/proc/${pid}/stat`);
    return true;
  } catch {
    return false;
  }
}
